import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { formatBytes } from '../../base/format.ts';
import { truthOf } from '../../testing/captures.ts';
import { type OomMessageResult, readOomMessage } from './oom-message.ts';
import type { OomMessage } from './oom-message-verdict.ts';

const GIB = 2 ** 30;
const MIB = 2 ** 20;

function read(text: string): Extract<OomMessageResult, { status: 'read' }> {
  const result = readOomMessage(text);
  if (result.status !== 'read') throw new Error(`not read: ${result.status}`);
  return result;
}

const OLD =
  'CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 24.00 GiB total capacity; 19.40 GiB already allocated; 512.00 MiB free; 22.10 GiB reserved in total by PyTorch)';

describe('messages of real captures', () => {
  it.each([
    ['oom_batch_too_big', 'too-large', 512 * MIB, 12],
    ['oom_observer', 'too-large', 500 * MIB, 8],
    ['oom_fragmented', 'fragmented', 380 * MIB, 6],
    ['whatif_gc08/oom_fragmented', 'fragmented', 356 * MIB, 6],
  ])('%s: %s', (name, cause, requested, allowedGib) => {
    const { message, verdict } = read(truthOf(`${name}.pickle.gz`).oom_message ?? '');
    expect(verdict).toMatchObject({
      cause,
      also: expect.stringContaining(' hit its own memory limit of '),
    });
    expect(message.requestedBytes).toBe(requested);
    expect(message.allowedBytes).toBe(allowedGib * GIB);
    expect(message.totalBytes).toBe(Math.round(139.8 * GIB));
    expect(message.otherProcesses.length).toBeGreaterThan(0);
  });
});

describe('wordings of other versions', () => {
  it('1.x: everything in brackets', () => {
    const { message, verdict } = read(
      `RuntimeError: ${OLD} If reserved memory is >> allocated memory try setting max_split_size_mb`,
    );
    expect(message).toMatchObject({ device: 0, totalBytes: 24 * GIB, freeBytes: 512 * MIB });
    expect(message.reservedBytes).toBe(Math.round(22.1 * GIB));
    expect(verdict).toMatchObject({ cause: 'fragmented', also: undefined });
    expect(verdict.arithmetic.join()).toContain('2.70 GiB free');
  });

  it('1.x, full: hardly any gaps', () => {
    const full = OLD.replace('2.00 GiB', '20.00 MiB')
      .replace('19.40 GiB', '22.00 GiB')
      .replace('512.00 MiB', '9.75 MiB');
    expect(read(full).verdict).toMatchObject({ cause: 'too-large', also: undefined });
  });

  it('2.x without processes, without a limit', () => {
    const { verdict, message } = read(
      'torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.00 GiB. GPU 1 has a total capacity of 23.69 GiB of which 1.20 GiB is free. Including non-PyTorch memory, this process has 22.48 GiB memory in use. Of the allocated memory 21.50 GiB is allocated by PyTorch, and 512.00 MiB is reserved by PyTorch but unallocated.',
    );
    expect(message.device).toBe(1);
    expect(verdict).toMatchObject({ cause: 'too-large', also: undefined });
    expect(verdict.arithmetic).toContain('missing if all that was free were one piece: 2.30 GiB');
  });

  it('large gaps that are still too small: both', () => {
    const { verdict } = read(
      OLD.replace('2.00 GiB', '12.00 GiB').replace('19.40 GiB', '14.00 GiB'),
    );
    expect(verdict.cause).toBe('both');
  });

  it('another process uses the GPU', () => {
    const { verdict } = read(
      'OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 24.00 GiB of which 1.00 GiB is free. Process 4711 has 18.00 GiB memory in use. Including non-PyTorch memory, this process has 5.00 GiB memory in use. Of the allocated memory 4.40 GiB is allocated by PyTorch, with 40.00 MiB allocated in private pools (e.g., CUDA Graphs), and 50.00 MiB is reserved by PyTorch but unallocated.',
    );
    expect(verdict.cause).toBe('other-processes');
  });

  it('broken over lines, in a log', () => {
    const lines = `[rank0]: ${OLD.replaceAll('; ', ';\n[rank0]:   ')}`;
    expect(readOomMessage(lines).status).toBe('read');
  });
});

describe('texts that are not OOM messages', () => {
  it.each([
    '',
    'Segmentation fault',
    'tried to allocate hope',
    'java.lang.OutOfMemoryError: Failed to allocate a 176 byte allocation with 504760 free bytes',
    'DefaultCPUAllocator: not enough memory: you tried to allocate 1073741824 bytes.',
    'slurmstepd: error: Detected 1 oom-kill event(s). Some of your processes may have been killed by the cgroup out-of-memory handler.',
  ])('%j', (text) => {
    expect(readOomMessage(text)).toEqual({ status: 'not-an-oom-message' });
  });
});

describe('a message cut in the middle', () => {
  const whole = truthOf('oom_fragmented.pickle.gz').oom_message ?? '';

  it('says which figures are missing', () => {
    expect(readOomMessage('CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0')).toMatchObject({
      status: 'incomplete',
      missing: ['how much PyTorch had allocated', 'how much PyTorch had reserved'],
    });
  });

  it('never misreads a figure, wherever the text ends', () => {
    const { message: full } = read(whole);
    for (let end = 0; end < whole.length; end++) {
      const result = readOomMessage(whole.slice(0, end));
      if (result.status !== 'read') continue;
      const { otherBytes, otherProcesses, ...message } = result.message;
      for (const [name, value] of Object.entries(message)) {
        // Only what the end of the text would have attributed to this process may be missing or differ.
        if (value !== undefined && name !== 'processBytes')
          expect(full).toMatchObject({ [name]: value });
      }
    }
  });

  it('without figures from PyTorch: says what it can, and that the rest is unknown', () => {
    const end = whole.indexOf(' is free.') + 9;
    const { verdict } = read(whole.slice(0, end));
    expect(verdict.cause).toBe('driver-refused');
    expect(verdict.also).toContain('can’t tell');
    expect(verdict.arithmetic.join()).toContain('reserved by PyTorch unknown');
  });
});

/** Real texts and their sources. */
interface Sample {
  readonly name: string;
  readonly source: string;
  readonly text: string;
}
const SAMPLES: readonly Sample[] = JSON.parse(readFileSync('fixtures/oom-messages.json', 'utf8'));

const FIGURES = [
  'requestedBytes',
  'allocatedBytes',
  'reservedBytes',
  'freeBytes',
  'totalBytes',
  'otherBytes',
  'allowedBytes',
] as const;

/** Requested, allocated, reserved, free, total, others', limit; '–' if the text does not say. */
const figuresOf = (message: OomMessage): string =>
  FIGURES.map((name) => message[name])
    .map((bytes) => (bytes === undefined ? '–' : formatBytes(bytes)))
    .join(', ')
    .replaceAll(' GiB', 'G')
    .replaceAll(' MiB', 'M')
    .replaceAll(' KiB', 'K')
    .replaceAll(' bytes', 'B');

/** Figures in the text itself; reserved and others' are sums and differences of these. */
const READ: readonly (readonly [name: string, cause: string, figures: string])[] = [
  ['cached-torch-1.0', 'too-large', '1.00M, 10.90G, 10.93G, 576.00K, 11.17G, 244.96M, –'],
  ['cached-but-free', 'driver-refused', '8.13G, 643.57M, 676.00M, 8.20G, 10.76G, 1.90G, –'],
  ['reserved-torch-1.x', 'too-large', '130.00M, 5.91G, 6.09G, 33.56M, 7.80G, 1.68G, –'],
  ['without-first-words', 'other-processes', '20.00M, 1.24G, 1.25G, 2.88M, 1.96G, 724.16M, –'],
  ['windows-over-capacity', 'too-large', '10.73G, 17.20G, 19.15G, 0B, 8.00G, –, –'],
  ['larger-than-card', 'too-large', '26.05G, 479.50M, 502.00M, 21.04G, 23.70G, 2.17G, –'],
  ['with-webui-tail', 'fragmented', '192.00M, 3.08G, 3.47G, 0B, 4.00G, 542.72M, –'],
  ['capacty-torch-2.1', 'fragmented', '1.70G, 2.93G, 5.23G, 0B, 6.00G, 788.48M, –'],
  ['processes-without-own', 'too-large', '136.00M, 21.51G, 21.51G, 93.81M, 23.65G, 2.05G, –'],
  ['own-process-torch-2.6', 'too-large', '30.29G, 6.10G, 6.49G, 3.69G, 10.74G, 576.22M, –'],
  ['half-in-gaps', 'both', '22.78G, 9.08G, 18.43G, 12.73G, 31.47G, 317.44M, –'],
  ['deepspeed-quoted', 'fragmented', '978.00M, 1.68G, 2.72G, 0B, 4.00G, 1.28G, –'],
  ['deepspeed-interleaved', 'too-large', '3.39G, 73.28G, 74.87G, 2.40G, 79.32G, 2.05G, –'],
  ['vllm-two-ranks', 'too-large', '1.74G, 20.21G, 20.39G, 605.88M, 23.57G, 2.59G, –'],
  ['own-process-0-bytes', 'other-processes', '2.63G, 48.16G, 51.64G, 2.61G, 79.11G, 24.86G, –'],
  ['wsl-wrong-own-process', 'driver-refused', '3.48G, 42.49G, 42.54G, 50.40G, 95.59G, 2.65G, –'],
  ['hip-although-free', 'driver-refused', '432.00M, 8.08G, 8.39G, 7.12G, 15.92G, 415.32M, –'],
  ['hip-others', 'other-processes', '4.50G, 1.26G, 1.41G, 1.40G, 15.98G, 13.17G, –'],
  ['hip-unified-memory', 'other-processes', '3.31G, 57.70G, 57.77G, 780.24M, 128.00G, 69.46G, –'],
  ['xpu', 'driver-refused', '4.66G, 195.50K, 2.00M, 5.65G, 5.65G, –, –'],
  ['xpu-extension', 'cannot-tell', '1.71G, 176.00M, 176.00M, –, 15.56G, –, –'],
  ['xpu-4-gib-limit', 'allocation-limit', '6.85G, 0B, 0B, –, 15.56G, –, –'],
  ['cut-after-free', 'too-large', '16.00M, –, –, 64.00K, 23.53G, –, –'],
  ['cudaMallocAsync-comfyui', 'too-large', '320.00M, 6.89G, –, 2.94M, 23.69G, –, –'],
  ['cudaMallocAsync-0-free', 'too-large', '512.00K, 15.16G, –, 0B, 15.99G, –, –'],
  ['mps', 'limit', '292.50M, 9.57G, –, –, –, 17.35G, 27.20G'],
  ['mps-torch-2.0', 'limit', '768.00M, 5.56G, –, –, –, 1.10G, 6.80G'],
  ['hip-limit', 'too-large', '76.00M, 1.14G, 1.16G, 252.82G, 255.69G, 1.71G, 1.20G'],
  ['sglang-graph-capture', 'too-large', '1.31G, 132.82G, 134.25G, 1.24G, 139.80G, 4.31G, –'],
  ['german-numbers', 'both', '22.78G, 9.08G, 18.43G, 12.73G, 31.47G, 317.44M, –'],
  ['german-thousands', 'too-large', '1.00M, 10.90G, 10.93G, 576.00K, 11.17G, 244.96M, –'],
  ['native-torch-2.11', 'too-large', '8.00G, 136.00G, 136.00G, 3.29G, 139.80G, 522.24M, –'],
  [
    'fraction-of-the-setting',
    'too-large',
    '512.00M, 6.50G, 6.50G, 132.79G, 139.80G, 522.24M, 6.99G',
  ],
  ['cudaMallocAsync-limit', 'limit', '512.00M, 6.50G, –, 132.72G, 139.80G, –, 6.99G'],
];

const INCOMPLETE: readonly (readonly [name: string, note: RegExp])[] = [
  ['vllm-wrapped', /vLLM wrote this in place of PyTorch’s message/],
  ['xpu-cut', /paste all of it/],
  ['mig-nvml-assert', /MIG slices/],
  ['driver-error', /from the driver/],
];

const sampleText = (name: string): string =>
  SAMPLES.find((sample) => sample.name === name)?.text ?? '';

describe('real texts', () => {
  it.each(READ)('%s: %s', (name, cause, figures) => {
    const { message, verdict } = read(sampleText(name));
    expect(figuresOf(message)).toBe(figures);
    expect(verdict.cause).toBe(cause);
  });

  it.each(INCOMPLETE)('%s: says that its figures are missing', (name, note) => {
    expect(readOomMessage(sampleText(name))).toMatchObject({
      status: 'incomplete',
      missing: expect.arrayContaining(['how much PyTorch had allocated']),
      note: expect.stringMatching(note),
    });
  });

  it('covers every text, and each says where it is from', () => {
    const expected = [...READ, ...INCOMPLETE].map(([name]) => name);
    expect(expected.sort()).toEqual(SAMPLES.map(({ name }) => name).sort());
    for (const { source } of SAMPLES)
      expect(source).toMatch(/#\d+|public log|test log|made for this file/);
  });

  it('two ranks: the first is read, and both are counted', () => {
    expect(read(sampleText('vllm-two-ranks'))).toMatchObject({ count: 2, message: { device: 1 } });
  });

  it('in a container, the process that holds everything reserved is this one', () => {
    const { message } = read(sampleText('processes-without-own'));
    expect(message.processBytes).toBe(Math.round(21.98 * GIB));
    expect(message.otherProcesses.map(({ pid }) => pid)).toEqual([62201, 62203, 62204, 62202]);
  });

  it.each(['own-process-0-bytes', 'wsl-wrong-own-process'])(
    '%s: NVML could not see the process',
    (name) => {
      expect(read(sampleText(name)).message.processBytes).toBeUndefined();
    },
  );

  it('Windows: says that memory was moved to the host, and does not blame others', () => {
    const { verdict } = read(sampleText('windows-over-capacity'));
    expect(verdict.arithmetic.join()).toContain("more than the GPU's 8.00 GiB");
    expect(verdict.arithmetic.join()).not.toContain('other processes');
  });

  it('cudaMallocAsync: claims no limit, and says how to get a snapshot', () => {
    const { verdict } = read(sampleText('cudaMallocAsync-comfyui'));
    expect(verdict.text).toBe(
      'Out of memory: 320.00 MiB was requested, and the GPU had 2.94 MiB free.',
    );
    expect(verdict.arithmetic.at(-1)).toContain('= 16.80 GiB held by something else');
    expect(verdict.advice[0]).toContain('--disable-cuda-malloc');
  });

  it('does not blame a limit that the request would not have exceeded', () => {
    const text = sampleText('hip-limit').replace('1.20 GiB allowed', '50.00 GiB allowed');
    const { verdict } = read(text.replace('252.82 GiB is free', '0 bytes is free'));
    expect(verdict).toMatchObject({ cause: 'other-processes', also: undefined });
  });

  it('does not rule out expandable segments if gaps and free memory together are enough', () => {
    const { verdict } = read(sampleText('deepspeed-interleaved'));
    expect(verdict.advice.join()).toContain('expandable_segments:True may just help');
  });
});

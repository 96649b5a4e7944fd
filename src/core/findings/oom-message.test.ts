import { describe, expect, it } from 'vitest';
import { truthOf } from '../../testing/captures.ts';
import { type OomMessageResult, readOomMessage } from './oom-message.ts';

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
    expect(verdict).toMatchObject({ cause, isCapped: true });
    expect(message.figures.requestedBytes).toBe(requested);
    expect(message.figures.allowedBytes).toBe(allowedGib * GIB);
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
    expect(message.figures.reservedBytes).toBe(Math.round(22.1 * GIB));
    expect(verdict).toMatchObject({ cause: 'fragmented', isCapped: false });
    expect(verdict.arithmetic.join()).toContain('2.70 GiB in gaps');
  });

  it('1.x, full: hardly any gaps', () => {
    const full = OLD.replace('2.00 GiB', '20.00 MiB')
      .replace('19.40 GiB', '22.00 GiB')
      .replace('512.00 MiB', '9.75 MiB');
    expect(read(full).verdict).toMatchObject({ cause: 'too-large', isCapped: false });
  });

  it('2.x without processes, without a limit', () => {
    const { verdict, message } = read(
      'torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.00 GiB. GPU 1 has a total capacity of 23.69 GiB of which 1.20 GiB is free. Including non-PyTorch memory, this process has 22.48 GiB memory in use. Of the allocated memory 21.50 GiB is allocated by PyTorch, and 512.00 MiB is reserved by PyTorch but unallocated.',
    );
    expect(message.device).toBe(1);
    expect(verdict).toMatchObject({ cause: 'too-large', isCapped: false });
    expect(verdict.missingBytes).toBe(4 * GIB - 512 * MIB - Math.round(1.2 * GIB));
  });

  it('large gaps that are still too small: both', () => {
    const { verdict } = read(
      OLD.replace('2.00 GiB', '12.00 GiB').replace('19.40 GiB', '14.00 GiB'),
    );
    expect(verdict.cause).toBe('both');
  });

  it('someone else has the card', () => {
    const { verdict } = read(
      'OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 24.00 GiB of which 1.00 GiB is free. Process 4711 has 18.00 GiB memory in use. Including non-PyTorch memory, this process has 5.00 GiB memory in use. Of the allocated memory 4.40 GiB is allocated by PyTorch, with 40.00 MiB allocated in private pools (e.g., CUDA Graphs), and 50.00 MiB is reserved by PyTorch but unallocated.',
    );
    expect(verdict.cause).toBe('others-on-the-card');
  });

  it('broken over lines, in a log', () => {
    const lines = `[rank0]: ${OLD.replaceAll('; ', ';\n[rank0]:   ')}`;
    expect(readOomMessage(lines).status).toBe('read');
  });
});

describe('what is no such message', () => {
  it.each(['', 'Segmentation fault', 'tried to allocate hope', 'CUDA out of memory.'])(
    '%j',
    (text) => {
      expect(readOomMessage(text)).toEqual({ status: 'not-an-oom-message' });
    },
  );

  it('says which figures a cut-off message lacks', () => {
    expect(readOomMessage('CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0')).toEqual({
      status: 'incomplete',
      missing: ['what PyTorch had allocated', 'what PyTorch had reserved'],
    });
  });
});

/**
 * Reads the text of an out-of-memory error, without a snapshot: PyTorch's own allocator in old and new wordings (CUDA,
 * HIP, XPU), cudaMallocAsync as ComfyUI uses it, and MPS.
 *
 *     CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 24.00 GiB total capacity; 19.40 GiB already
 *     allocated; 512.00 MiB free; 22.10 GiB reserved in total by PyTorch)
 *     CUDA out of memory. Tried to allocate 380.00 MiB. GPU 0 has a total capacity of 139.80 GiB of which
 *     130.88 GiB is free. Process 577 has 1.12 GiB memory in use. Including non-PyTorch memory, this process
 *     has 6.31 GiB memory in use. 6.00 GiB allowed; Of the allocated memory 2.05 GiB is allocated by PyTorch,
 *     and 3.76 GiB is reserved by PyTorch but unallocated.
 *
 * A figure that a text does not state is undefined, never 0. fixtures/oom-messages.json lists the known forms.
 */
import { judgeMessage, type MessageVerdict, type OomMessage } from './oom-message-verdict.ts';
import type { ListedProcess } from './oom-verdict.ts';

export type OomMessageResult =
  | {
      readonly status: 'read';
      readonly message: OomMessage;
      readonly verdict: MessageVerdict;
      /** Messages in the text, usually one per rank; only the first is read. */
      readonly count: number;
    }
  /** An OOM message, but without the requested size or without any other figure. */
  | { readonly status: 'incomplete'; readonly missing: readonly string[]; readonly note: string }
  | { readonly status: 'not-an-oom-message' };

/** How to get what a message can't show; appears below every verdict. */
export const HOW_TO_RECORD = `import torch
torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks="python")
try:
    train()
finally:
    torch.cuda.memory._dump_snapshot("snapshot.pickle")`;

/** '2.00', '2,00' (a locale's comma), '1.024,00', '1 024,00'; a number that was cut off has no unit. */
const SIZE = String.raw`(\d+(?: \d{3})+,\d+|\d[\d.,]*)\s*(bytes?|[KMGTP]i?B)\b`;

const LARGEST = `size larger than ${SIZE}! `;
const NATIVE = new RegExp(`(?:${LARGEST})?tried to allocate ${SIZE}`, 'gi');
const ASYNC = /allocation on device \d* ?would exceed allowed memory/gi;
const MPS = /MPS backend out of memory ?\(/gi;
/** Errors of frameworks and drivers that contain no figures. */
const WITHOUT_FIGURES =
  /\b(?:CUDA|HIP|XPU|MPS backend) out of memory|torch(?:\.cuda)?\.OutOfMemoryError|(?:CUDA|HIP) error: out of memory|NVML_SUCCESS == r/i;

/** Reads the first OOM message in a text; ignores tracebacks and log prefixes around it. */
export function readOomMessage(text: string): OomMessageResult {
  const flat = text.replace(/\s+/g, ' ');
  const looksLikeOne =
    WITHOUT_FIGURES.test(flat) || /out of memory|\(GPU +\d|GPU \d+ has a/i.test(flat);
  const forms = [
    { read: readMps, pattern: MPS },
    { read: readAsync, pattern: ASYNC },
    ...(looksLikeOne ? [{ read: readNative, pattern: NATIVE }] : []),
  ];
  for (const { read, pattern } of forms) {
    const starts = Array.from(flat.matchAll(pattern), ({ index }) => index);
    if (starts.length > 0)
      return judge(read(flat.slice(starts[0], starts[1])), starts.length, flat);
  }
  if (!WITHOUT_FIGURES.test(flat)) return { status: 'not-an-oom-message' };
  return { status: 'incomplete', missing: missingOf({}), note: noteOf(flat) };
}

type Figures = { readonly [K in keyof OomMessage]?: OomMessage[K] | undefined };

function judge(figures: Figures, count: number, text: string): OomMessageResult {
  const { requestedBytes, allocatedBytes, freeBytes, allowedBytes } = figures;
  const isStated = [allocatedBytes, freeBytes, allowedBytes].some((bytes) => bytes !== undefined);
  if (requestedBytes === undefined || !isStated) {
    return { status: 'incomplete', missing: missingOf(figures), note: noteOf(text) };
  }
  const { allocator = 'native', otherProcesses = [] } = figures;
  const message: OomMessage = { ...figures, allocator, requestedBytes, otherProcesses };
  return { status: 'read', message, verdict: judgeMessage(message), count };
}

function missingOf(figures: Figures): string[] {
  return Object.entries({
    'how much was requested': figures.requestedBytes,
    'how much PyTorch had allocated': figures.allocatedBytes,
    'how much PyTorch had reserved': figures.reservedBytes,
  }).flatMap(([name, bytes]) => (bytes === undefined ? [name] : []));
}

/** Where to find the figures, for texts known to omit them. */
function noteOf(text: string): string {
  if (/NVML_SUCCESS == r/i.test(text)) {
    return 'PyTorch ran out of memory and then failed to write its message: it could not ask NVML about the GPU, as happens on MIG slices and in containers. Newer versions write the message.';
  }
  if (/dummy requests/i.test(text)) {
    return 'vLLM wrote this in place of PyTorch’s message, which is further up in the log, above “During handling of the above exception”. Paste that one.';
  }
  if (/error: out of memory/i.test(text)) {
    return 'This comes from the driver, not from PyTorch’s allocator: a library, a context or pinned host memory ran out. The driver gives no figures.';
  }
  return 'If the message was cut off, paste all of it.';
}

/** cudaMallocAsync puts a label and a colon before each figure; it reserves nothing of its own. */
function readAsync(body: string): Figures {
  const labeled = (label: string): number | undefined => find(body, `${label} *: *${SIZE}`);
  return {
    allocator: 'cudaMallocAsync',
    device: findDevice(body, /on device (\d+)/i),
    requestedBytes: labeled('Requested'),
    allocatedBytes: labeled('Currently allocated'),
    allowedBytes: labeled(String.raw`PyTorch limit \(set by user-supplied memory fraction\)`),
    totalBytes: labeled('Device limit'),
    freeBytes: labeled(String.raw`Free \(according to CUDA\)`),
  };
}

function readMps(body: string): Figures {
  return {
    allocator: 'MPS',
    requestedBytes: find(body, `tried to allocate ${SIZE}`),
    allocatedBytes: find(body, `MPS allocated: ${SIZE}`),
    otherBytes: find(body, `other allocations: ${SIZE}`),
    allowedBytes: find(body, `max allowed: ${SIZE}`),
  };
}

function readNative(body: string): Figures {
  const allocatedBytes =
    find(body, `${SIZE} already allocated`) ?? find(body, `${SIZE} is allocated by PyTorch`);
  // "cached" (up to PyTorch 1.3) excludes allocated memory; "reserved" includes it.
  const besideBytes =
    find(body, `${SIZE} is reserved by PyTorch but unallocated`) ?? find(body, `${SIZE} cached`);
  const reservedBytes =
    find(body, `${SIZE} reserved in total`) ??
    ifKnown(Number(allocatedBytes) + Number(besideBytes));
  const totalBytes =
    find(body, `${SIZE} total capacity`) ?? find(body, `total capaci?ty of ${SIZE}`);
  const freeBytes = find(body, `of which ${SIZE} is free`) ?? find(body, `allocated; ${SIZE} free`);
  const processBytes = find(body, `this process has ${SIZE} memory in use`);
  const listed = listedProcesses(body);
  const own = processBytes === undefined ? ownProcess(listed, reservedBytes) : undefined;
  const otherBytes = Number(totalBytes) - Number(freeBytes) - Number(reservedBytes);
  return {
    allocator: 'native',
    device: findDevice(body, /\bGPU +(\d+)/i),
    requestedBytes: find(body, `tried to allocate ${SIZE}`),
    allocatedBytes,
    reservedBytes,
    allowedBytes: find(body, `${SIZE} allowed`),
    largestBytes: find(body, LARGEST),
    totalBytes,
    freeBytes,
    // NVML reports 0 or -1 if it cannot see the process (WSL, containers).
    processBytes: processBytes === 0 ? undefined : (processBytes ?? own?.bytes),
    privatePoolBytes: find(body, `with ${SIZE} allocated in private pools`),
    // Below 0 if Windows moved memory to the host, so that more is reserved than the GPU has.
    otherBytes: otherBytes >= 0 ? otherBytes : undefined,
    otherProcesses: listed.filter((process) => process !== own),
  };
}

function listedProcesses(body: string): ListedProcess[] {
  const all = body.matchAll(new RegExp(`Process (\\d+) has ${SIZE} memory in use`, 'gi'));
  return [...all].flatMap(([, pid, value, unit]) => {
    const bytes = toBytes(value, unit);
    return bytes === undefined ? [] : [{ pid: Number(pid), bytes }];
  });
}

/** A process in a container doesn't know its own ID: take the only one that holds all that PyTorch reserved. */
function ownProcess(
  listed: readonly ListedProcess[],
  reservedBytes: number | undefined,
): ListedProcess | undefined {
  const able = listed.filter(({ bytes }) => bytes >= Number(reservedBytes));
  return able.length === 1 ? able[0] : undefined;
}

/** NaN, of unknown figures, becomes undefined. */
const ifKnown = (value: number): number | undefined => (Number.isNaN(value) ? undefined : value);

const findDevice = (body: string, pattern: RegExp): number | undefined =>
  ifKnown(Number(pattern.exec(body)?.[1]));

function find(body: string, pattern: string): number | undefined {
  const match = new RegExp(pattern, 'i').exec(body);
  return match === null ? undefined : toBytes(match[1], match[2]);
}

const UNITS = 'BKMGTP';
/** PyTorch prints SIZE_MAX as 17179869184.00 GiB, for "no limit" and for "could not find out". */
const MAX_BELIEVED = 2 ** 60;

/** PyTorch's units are 1024-based, even where an old version prints GB. Undefined: not a size. */
function toBytes(value: string, unit: string): number | undefined {
  const power = /^byte/i.test(unit) ? 0 : UNITS.indexOf(unit[0].toUpperCase());
  const bytes = Math.round(toNumber(value, power > 0) * 1024 ** power);
  return bytes < MAX_BELIEVED ? bytes : undefined;
}

/** PyTorch prints two decimals, except for bytes: so '1,024.00' and '1.024,00' are both 1024. */
function toNumber(value: string, hasDecimals: boolean): number {
  const decimals = hasDecimals ? /[.,](\d+)$/.exec(value) : null;
  const whole = decimals === null ? value : value.slice(0, decimals.index);
  return Number(`${whole.replace(/[ .,]/g, '')}.${decimals?.[1] ?? '0'}`);
}

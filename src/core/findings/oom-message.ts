/**
 * The text of a torch.cuda.OutOfMemoryError, old and new, read without any snapshot:
 *
 *     CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 24.00 GiB total capacity; 19.40 GiB already
 *     allocated; 512.00 MiB free; 22.10 GiB reserved in total by PyTorch)
 *     CUDA out of memory. Tried to allocate 380.00 MiB. GPU 0 has a total capacity of 139.80 GiB of which
 *     130.88 GiB is free. Process 577 has 1.12 GiB memory in use. Including non-PyTorch memory, this process
 *     has 6.31 GiB memory in use. 6.00 GiB allowed; Of the allocated memory 2.05 GiB is allocated by PyTorch,
 *     and 3.76 GiB is reserved by PyTorch but unallocated.
 */
import { judgeOom, type OomFigures, type OomVerdict } from './oom-verdict.ts';

export interface OomMessage {
  readonly device: number | undefined;
  readonly figures: OomFigures;
  readonly totalBytes: number | undefined;
  readonly freeBytes: number | undefined;
  /** This process with CUDA's context and other libraries; undefined in old messages. */
  readonly processBytes: number | undefined;
  readonly privatePoolBytes: number | undefined;
  readonly otherProcesses: readonly { readonly pid: number; readonly bytes: number }[];
}

export type OomMessageResult =
  | { readonly status: 'read'; readonly message: OomMessage; readonly verdict: OomVerdict }
  /** It is such a message, but figures that the verdict needs are not in it. */
  | { readonly status: 'incomplete'; readonly missing: readonly string[] }
  | { readonly status: 'not-an-oom-message' };

/** How to get what a message cannot tell; shown below every verdict. */
export const HOW_TO_RECORD = `import torch
torch.cuda.memory._record_memory_history(max_entries=1_000_000)
try:
    train()
finally:
    torch.cuda.memory._dump_snapshot("snapshot.pickle")`;

const SIZE = String.raw`(\d+(?:[.,]\d+)?)\s*(bytes?|[KMGTP]i?B)`;

/** Reads the first OOM message in a text; tracebacks and log prefixes around it do not matter. */
export function readOomMessage(text: string): OomMessageResult {
  const flat = text.replace(/\s+/g, ' ');
  const at = flat.search(/tried to allocate/i);
  if (at < 0 || !/out of memory|OutOfMemory/i.test(flat)) return { status: 'not-an-oom-message' };
  const body = flat.slice(at);
  const next = body.slice(1).search(/tried to allocate/i);
  return judge(parse(next < 0 ? body : body.slice(0, next + 1)));
}

type Parsed = Omit<OomMessage, 'figures'> & {
  readonly requestedBytes: number | undefined;
  readonly allocatedBytes: number | undefined;
  readonly reservedBytes: number | undefined;
  readonly allowedBytes: number | undefined;
};

function parse(body: string): Parsed {
  const find = (pattern: string): number | undefined => {
    const match = new RegExp(pattern, 'i').exec(body);
    return match === null ? undefined : toBytes(match[1], match[2]);
  };
  const allocatedBytes =
    find(`${SIZE} already allocated`) ?? find(`${SIZE} is allocated by PyTorch`);
  const unallocatedBytes = find(`${SIZE} is reserved by PyTorch but unallocated`);
  const inTotal = find(`${SIZE} reserved in total`);
  const device = /\bGPU (\d+)/i.exec(body);
  return {
    device: device === null ? undefined : Number(device[1]),
    requestedBytes: find(`tried to allocate ${SIZE}`),
    allocatedBytes,
    reservedBytes: inTotal ?? plus(allocatedBytes, unallocatedBytes),
    allowedBytes: find(`${SIZE} allowed`),
    totalBytes: find(`${SIZE} total capacity`) ?? find(`total capacity of ${SIZE}`),
    freeBytes: find(`of which ${SIZE} is free`) ?? find(`allocated; ${SIZE} free`),
    processBytes: find(`this process has ${SIZE} memory in use`),
    privatePoolBytes: find(`with ${SIZE} allocated in private pools`),
    otherProcesses: processes(body),
  };
}

function processes(body: string): { pid: number; bytes: number }[] {
  const all = body.matchAll(new RegExp(`Process (\\d+) has ${SIZE} memory in use`, 'gi'));
  return [...all].map(([, pid, value, unit]) => ({
    pid: Number(pid),
    bytes: toBytes(value, unit),
  }));
}

function judge(parsed: Parsed): OomMessageResult {
  const { requestedBytes, allocatedBytes, reservedBytes, allowedBytes, ...message } = parsed;
  const missing = Object.entries({
    'what was asked for': requestedBytes,
    'what PyTorch had allocated': allocatedBytes,
    'what PyTorch had reserved': reservedBytes,
  }).flatMap(([name, value]) => (value === undefined ? [name] : []));
  if (requestedBytes === undefined || allocatedBytes === undefined || reservedBytes === undefined) {
    return { status: 'incomplete', missing };
  }
  const figures: OomFigures = {
    requestedBytes,
    allocatedBytes,
    reservedBytes,
    deviceFreeBytes: message.freeBytes,
    deviceTotalBytes: message.totalBytes,
    allowedBytes,
    otherBytes: othersOf(parsed, reservedBytes),
  };
  return { status: 'read', message: { ...message, figures }, verdict: judgeOom(figures) };
}

/** What is neither free nor PyTorch's; old messages list no processes, so it is a difference. */
function othersOf({ totalBytes, freeBytes }: Parsed, reservedBytes: number): number | undefined {
  if (totalBytes === undefined || freeBytes === undefined) return undefined;
  return Math.max(0, totalBytes - freeBytes - reservedBytes);
}

const plus = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : a + b;

const UNITS = 'BKMGTP';

/** PyTorch's units are 1024-based, also where an old version writes GB. */
function toBytes(value: string, unit: string): number {
  const power = /^byte/i.test(unit) ? 0 : UNITS.indexOf(unit[0].toUpperCase());
  return Math.round(Number(value.replace(',', '.')) * 1024 ** power);
}

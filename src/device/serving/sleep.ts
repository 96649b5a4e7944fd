/**
 * Allocators whose pools can sleep: vLLM's CuMemAllocator and torch_memory_saver free a pool's memory behind PyTorch's
 * back, which goes on counting it as reserved and allocated. The trace has no event for it. What shows are the stacks
 * of what they do besides: sleep() calls empty_cache(), which gives segments back.
 */
import {
  type EventIndex,
  type EventTable,
  NO_STACK,
  type Snapshot,
} from '../../format/snapshot/tables.ts';
import type { StackReader } from '../model/stacks.ts';

export type Sleeper = 'CuMemAllocator' | 'torch_memory_saver';

export interface SleepSigns {
  readonly allocator: Sleeper;
  /** The first event of each time that the stacks show it, in order. */
  readonly moments: readonly { readonly event: EventIndex; readonly isWaking: boolean }[];
}

const FILES: readonly (readonly [RegExp, Sleeper])[] = [
  [/(^|[\\/])cumem(_allocator)?\.py$/, 'CuMemAllocator'],
  [/(^|[\\/])torch_memory_saver([\\/]|\.py$)/, 'torch_memory_saver'],
];
/** SGLang's calls of torch_memory_saver. */
const OCCUPATION = /^(release|resume)_memory_occupation$/;
const SLEEP = /^(sleep|pause|release_memory_occupation)$/;
const WAKE = /^(wake_up|resume|resume_memory_occupation)$/;

const Sign = { None: 0, Known: 1, Sleep: 2, Wake: 3 } as const;

interface SleepSource {
  readonly snapshot: Pick<Snapshot, 'frames' | 'stacks'>;
  readonly trace: { readonly events: Pick<EventTable, 'stack'> };
  readonly stacks: Pick<StackReader, 'frame'>;
}

/** Undefined if no stack shows such an allocator, which does not mean that there is none. */
export function sleepSigns({ snapshot, trace, stacks }: SleepSource): SleepSigns | undefined {
  let allocator: Sleeper | undefined;
  const ofFrame = Uint8Array.from({ length: snapshot.frames.length }, (_, frame) => {
    const { filename, name } = stacks.frame(frame);
    const own =
      FILES.find(([file]) => file.test(filename))?.[1] ??
      (OCCUPATION.test(name) ? 'torch_memory_saver' : undefined);
    if (own === undefined) return Sign.None;
    allocator ??= own;
    return SLEEP.test(name) ? Sign.Sleep : WAKE.test(name) ? Sign.Wake : Sign.Known;
  });
  if (allocator === undefined) return undefined;
  const { frame, parent, length } = snapshot.stacks;
  const ofStack = new Uint8Array(length);
  for (let row = 1; row < length; row++) {
    ofStack[row] = Math.max(ofFrame[frame[row]], ofStack[parent[row]]);
  }
  const moments: { event: EventIndex; isWaking: boolean }[] = [];
  let last: number = Sign.None;
  trace.events.stack.forEach((stack, event) => {
    const sign = stack === NO_STACK ? Sign.None : ofStack[stack];
    if (sign >= Sign.Sleep && sign !== last) moments.push({ event, isWaking: sign === Sign.Wake });
    last = sign;
  });
  return { allocator, moments };
}

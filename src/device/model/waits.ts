import type { AllocationTable } from '../../allocator/replay/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';

/**
 * From which event on a freed block waits for another stream; `end` if it doesn't. Without other streams PyTorch writes
 * free_completed right after free_requested: a step of the recording, not a wait.
 */
export const waitsFrom = (freeRequested: EventIndex, end: EventIndex): EventIndex =>
  end - freeRequested === 1 ? end : freeRequested;

/** Whether any block waits at any event. */
export function hasWaits({
  length,
  freeRequested,
  end,
}: Pick<AllocationTable, 'length' | 'freeRequested' | 'end'>): boolean {
  for (let id = 0; id < length; id++) {
    if (waitsFrom(freeRequested[id], end[id]) < end[id]) return true;
  }
  return false;
}

/** What the parts of a server's memory mean, in sentences for the page, the terminal and the verdict. */

import { sumBy } from '../../base/collections.ts';
import { formatBytes, formatCount } from '../../base/format.ts';
import type { OffCard, ServingLens, ServingPool } from './serving-lens.ts';
import type { SleepSigns } from './sleep.ts';

const FILES_OF = {
  CuMemAllocator: 'cumem_allocator.py',
  torch_memory_saver: 'torch_memory_saver',
} as const;

const isGraphPool = ({ kind }: Pick<ServingPool, 'kind'>): boolean => /graph/i.test(kind);

type Noted = Pick<ServingLens, 'pools' | 'sleep' | 'offCard' | 'largestBatch' | 'isServer'>;

export function servingNotes({ pools, sleep, offCard, largestBatch, isServer }: Noted): string[] {
  const graphs = pools.filter((pool) => isGraphPool(pool) && pool.reservedBytes > 0);
  const others = pools.filter((pool) => !isGraphPool(pool) && pool.reservedBytes > 0);
  const free = sumBy(graphs, ({ strandedBytes }) => strandedBytes);
  return [
    ...(isServer && largestBatch.bytes > 0
      ? [
          `The largest batch held ${formatBytes(largestBatch.bytes)} of activations, temporaries and inputs at event ${formatCount(largestBatch.event)}.`,
        ]
      : []),
    ...(free > 0
      ? [
          `${formatBytes(free)} in the pools of CUDA graphs has no live tensor: replays write there, so nothing else can use it, and empty_cache() doesn't return it.`,
        ]
      : []),
    ...(sleep === undefined ? [] : [sleepText(sleep)]),
    ...(offCard === undefined ? [] : [offCardText(offCard)]),
    ...(sleep === undefined && offCard === undefined && others.length > 0
      ? [mayBeAsleep(others)]
      : []),
  ];
}

/** Also for the verdict. */
export function sleepText({ allocator, moments }: SleepSigns): string {
  const known = moments.map(
    ({ event, isWaking }) => `${isWaking ? 'awake' : 'asleep'} from event ${formatCount(event)}`,
  );
  const isOpen = moments.at(-1)?.isWaking === false;
  const end = isOpen ? "; the stacks don't show whether it woke" : '';
  const when =
    known.length === 0
      ? "The stacks don't show when it slept."
      : `Seen: ${known.join(', ')}${end}.`;
  return `${allocator} manages memory here (${FILES_OF[allocator]} in the stacks). While its pools sleep, their memory is not on the GPU, but PyTorch still counts it as reserved and allocated. ${when}`;
}

function offCardText({ most, last }: OffCard & object): string {
  const now =
    last.bytes > 0
      ? `at least ${formatBytes(last.bytes)} at the last sample`
      : 'none shows at the last sample';
  return `By the ledger, at least ${formatBytes(most.bytes)} that PyTorch counts as reserved was not on the GPU at event ${formatCount(Math.max(0, most.event))}, as when pools sleep; ${now}.`;
}

function mayBeAsleep(pools: readonly ServingPool[]): string {
  const ids = pools.map(({ id }) => id).join(', ');
  const them = pools.length === 1 ? 'is a private pool' : 'are private pools';
  return `${ids} ${them} with memory that only allocations in the same pool can use. If an allocator that can sleep owns them (vLLM's sleep mode, torch_memory_saver), we can't tell when they slept: no stack shows it, and PyTorch counts their memory as reserved either way.`;
}

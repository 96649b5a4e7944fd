/** What the trace does not show for a run, and the resulting confidence in its figures. */
import { highest } from '../../base/extremes.ts';
import { formatBytes, formatCount, plural } from '../../base/format.ts';
import { type AllocConf, optionsWithoutEffect } from './alloc-conf.ts';
import { failuresOf } from './requests.ts';
import type { Simulation, WhatIfInput } from './simulation.ts';
import type { Confidence, Unknown, UnknownCode } from './types.ts';

/** Codes that mean the simulated run did not happen that way, or that may shift a peak. */
const LOW: readonly UnknownCode[] = ['no-trace', 'after-oom', 'anomalies'];
const MEDIUM: readonly UnknownCode[] = [
  'retried',
  'trials',
  'delayed-frees',
  'before-trace',
  'private-pools',
];

export function confidenceOf(unknowns: readonly Unknown[]): Confidence {
  const has = (codes: readonly UnknownCode[]) => unknowns.some(({ code }) => codes.includes(code));
  if (has(LOW)) return 'low';
  return has(MEDIUM) ? 'medium' : 'high';
}

export function unknownsOf(
  input: WhatIfInput,
  { text, settings }: AllocConf,
  { memory, ooms, failedTrials }: Simulation,
): Unknown[] {
  const { trace, replay, requests, recorded } = input;
  const retried = requests.retriedOoms.size;
  const failed = failuresOf(requests);
  const emptied = requests.releases.filter(({ cause }) => cause === 'user').length;
  const ignored = optionsWithoutEffect(text);
  const isUnlimited = memory.limitBytes === Infinity;
  const isSameKind = settings.expandableSegments === recorded.settings.expandableSegments;
  const isTooMuch = replay.start.reservedBytes > memory.limitBytes;
  const seeded = isSameKind
    ? `with the ${formatBytes(replay.start.reservedBytes)} reserved as they were${isTooMuch ? ', but for the cache, for which there is no room' : ''}`
    : 'with these blocks allocated anew, each of the size that its settings give it, and nothing cached between them';
  /** Most severe first. */
  const unknowns: readonly (readonly [UnknownCode, boolean, string])[] = [
    [
      'no-trace',
      trace.events.length === 0,
      'This device has no recorded history, so there is nothing to simulate.',
    ],
    [
      'after-oom',
      failed > 0,
      `The recorded run ran out of memory ${failed === 1 ? 'once' : `${formatCount(failed)} times`}. What your program would have requested after that is not in the trace: the figures say what the recorded requests need, including the failed ones.`,
    ],
    [
      'anomalies',
      replay.anomalyCount > 0,
      `${formatCount(replay.anomalyCount)} events contradict earlier ones: requests may be missing.`,
    ],
    [
      'retried',
      retried > 0,
      `${plural(retried, 'request')} failed in the recorded run, and others followed at once until one that asked for less was served, as cuDNN does to find a workspace that fits. The trace does not say which it would use with more memory. Without a limit, the simulation skips these requests; with one, it frees those that fit at once.`,
    ],
    [
      'trials',
      failedTrials.length > 0,
      `${plural(failedTrials.length, 'workspace')} that cuDNN only tried, of at most ${formatBytes(highest(failedTrials))}, did not fit. PyTorch then tries a smaller one and your program sees no error, but the trace does not say which algorithm it would choose.`,
    ],
    [
      'delayed-frees',
      requests.delayedFrees > 0,
      `${formatCount(requests.delayedFrees)} frees waited for another stream (record_stream). The simulation repeats the recorded waits, but GPU timing, and so reserved memory, differs from run to run.`,
    ],
    [
      'before-trace',
      replay.recording !== 'complete' && replay.recording !== 'none',
      `${formatBytes(replay.start.allocatedBytes)} were already allocated at the first event. The simulation starts ${seeded} and ignores earlier peaks.`,
    ],
    [
      'private-pools',
      trace.pools.length > 1 && replay.allocations.pool.some((pool) => pool > 0),
      'Private pools (CUDA graphs, MemPool) keep their memory to the end of the simulation: the trace does not say when your program released them.',
    ],
    [
      'empty-cache',
      emptied > 0,
      `${plural(emptied, 'call')} of torch.cuda.empty_cache() (cuDNN makes some too, when it has timed its algorithms) ${emptied === 1 ? 'is' : 'are'} repeated as recorded. Calls that freed nothing are not in the trace.`,
    ],
    [
      'gc-without-limit',
      isUnlimited && settings.garbageCollectionThreshold > 0,
      'garbage_collection_threshold has no effect without a limit: PyTorch applies it only after set_per_process_memory_fraction().',
    ],
    [
      'fraction-without-limit',
      isUnlimited && (settings.memoryFraction < 1 || settings.throwsBeforeMalloc),
      settings.memoryFraction < 1
        ? 'per_process_memory_fraction is a share of the GPU’s memory, whose size is not in the trace. Choose a memory size to set the limit.'
        : 'throw_on_cudamalloc_oom has no effect without a limit.',
    ],
    ['without-effect', ignored.length > 0, `No effect on these figures: ${ignored.join('; ')}.`],
    [
      'outside-memory',
      !isUnlimited,
      'The limit applies to PyTorch alone, as with set_per_process_memory_fraction(). The CUDA context, NCCL and other processes use memory beyond it.',
    ],
    [
      'stopped',
      ooms.at(-1)?.isRecorded === false,
      'The simulation stops where memory runs out: what your program would do next is not in the trace.',
    ],
  ];
  return unknowns.flatMap(([code, applies, message]) => (applies ? [{ code, message }] : []));
}

/**
 * The number of real runs under other settings that the simulator was compared with (fixtures/whatif.truth.json), and
 * how many of them had exactly its peak of reserved memory. truth.test.ts counts both.
 */
export const ACCURACY = { runs: 73, equalReserved: 70 } as const;

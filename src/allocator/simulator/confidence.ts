/** What the trace does not tell, for one run, and how sure its figures are therefore. */
import { formatBytes, formatCount, plural } from '../../base/format.ts';
import { type AllocConf, type AllocSettings, optionsWithoutEffect } from './alloc-conf.ts';
import type { Simulation, WhatIfInput } from './simulation.ts';
import type { Confidence, Unknown, UnknownCode } from './types.ts';

/** Codes that make the figures those of a run that did not happen that way, and that may shift a peak. */
const LOW: readonly UnknownCode[] = ['no-trace', 'after-oom', 'anomalies'];
const MEDIUM: readonly UnknownCode[] = [
  'retried',
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
  simulation: Simulation,
): Unknown[] {
  /** The most severe first. */
  const messages: Readonly<Record<UnknownCode, string | undefined>> = {
    'no-trace': aboutTrace(input),
    'after-oom': aboutRecordedOoms(input),
    anomalies: aboutAnomalies(input),
    retried: aboutRetried(input),
    'delayed-frees': aboutDelayedFrees(input),
    'before-trace': aboutBefore(input, settings),
    'private-pools': aboutPools(input),
    'empty-cache': aboutEmptyCache(input),
    'gc-without-limit': aboutCollection(settings, simulation.memory.limitBytes),
    'fraction-without-limit': aboutFraction(settings, simulation.memory.limitBytes),
    'without-effect': aboutNoEffect(text),
    'outside-memory': aboutLimit(simulation.memory.limitBytes),
    stopped: aboutStop(simulation),
  };
  const codes = Object.keys(messages) as UnknownCode[];
  return codes.flatMap((code) => {
    const message = messages[code];
    return message === undefined ? [] : [{ code, message }];
  });
}

function aboutTrace({ trace }: WhatIfInput): string | undefined {
  if (trace.events.length > 0) return undefined;
  return 'This device has no recorded history, so there is nothing to simulate.';
}

function aboutRecordedOoms({ requests }: WhatIfInput): string | undefined {
  const ooms = requests.ooms - requests.retriedOoms.size;
  if (ooms === 0) return undefined;
  const times = ooms === 1 ? 'once' : `${formatCount(ooms)} times`;
  return `The recorded run ran out of memory ${times}. What your program would have requested after that is not in the trace: the figures say what the recorded requests need, including the failed ones.`;
}

function aboutRetried({ requests }: WhatIfInput): string | undefined {
  const { size } = requests.retriedOoms;
  if (size === 0) return undefined;
  return `${plural(size, 'request')} failed in the recorded run and ${size === 1 ? 'was' : 'were'} retried at once, as cuDNN does to find a workspace that fits. The trace does not say which it would use with more memory. Without a limit, the simulation skips these requests; with one, it frees those that fit at once.`;
}

function aboutAnomalies({ replay }: WhatIfInput): string | undefined {
  if (replay.anomalyCount === 0) return undefined;
  return `${formatCount(replay.anomalyCount)} events contradict earlier ones: requests may be missing.`;
}

function aboutBefore({ replay, recorded }: WhatIfInput, settings: AllocSettings) {
  if (replay.recording === 'complete' || replay.recording === 'none') return undefined;
  const { reservedBytes, allocatedBytes } = replay.start;
  const isSameKind = settings.expandableSegments === recorded.settings.expandableSegments;
  const how = isSameKind
    ? `with the ${formatBytes(reservedBytes)} reserved as they were`
    : 'with these blocks allocated anew and nothing cached between them';
  return `${formatBytes(allocatedBytes)} were allocated before the first event. The simulation starts ${how} and ignores earlier peaks.`;
}

function aboutDelayedFrees({ requests }: WhatIfInput): string | undefined {
  if (requests.delayedFrees === 0) return undefined;
  return `${formatCount(requests.delayedFrees)} frees waited for another stream (record_stream). The simulation repeats the recorded waits, but GPU timing, and so reserved memory, differs from run to run.`;
}

function aboutPools({ requests, trace }: WhatIfInput): string | undefined {
  if (trace.pools.length < 2 || !requests.pool.some((pool) => pool > 0)) return undefined;
  return 'Private pools (CUDA graphs, MemPool) keep their memory to the end of the simulation: the trace does not say when your program released them.';
}

function aboutEmptyCache({ requests }: WhatIfInput): string | undefined {
  const count = requests.releases.filter(({ cause }) => cause === 'user').length;
  if (count === 0) return undefined;
  const calls = plural(count, 'call');
  return `${calls} of torch.cuda.empty_cache() (cuDNN makes some too, when it has timed its algorithms) are repeated as recorded. Calls that freed nothing are not in the trace.`;
}

function aboutCollection({ garbageCollectionThreshold }: AllocSettings, limitBytes: number) {
  if (garbageCollectionThreshold === 0 || limitBytes < Infinity) return undefined;
  return 'garbage_collection_threshold has no effect without a limit: PyTorch applies it only after set_per_process_memory_fraction().';
}

function aboutFraction(settings: AllocSettings, limitBytes: number): string | undefined {
  const { memoryFraction, throwsBeforeMalloc } = settings;
  if (limitBytes < Infinity) return undefined;
  if (memoryFraction < 1) {
    return 'per_process_memory_fraction is a share of the GPU’s memory, whose size is not in the trace. Choose a memory size to set the limit.';
  }
  return throwsBeforeMalloc ? 'throw_on_cudamalloc_oom has no effect without a limit.' : undefined;
}

function aboutNoEffect(text: string): string | undefined {
  const options = optionsWithoutEffect(text);
  return options.length === 0 ? undefined : `No effect on these figures: ${options.join('; ')}.`;
}

function aboutLimit(limitBytes: number): string | undefined {
  if (limitBytes === Infinity) return undefined;
  return 'The limit applies to PyTorch alone, as with set_per_process_memory_fraction(). The CUDA context, NCCL and other processes use memory beyond it.';
}

function aboutStop({ ooms }: Simulation): string | undefined {
  const last = ooms.at(-1);
  if (last === undefined || last.isRecorded) return undefined;
  return 'The simulation stops where memory runs out: what your program would do next is not in the trace.';
}

/**
 * How many real runs under other settings the simulator was held against (fixtures/whatif.truth.json), and
 * in how many its peak of reserved memory was equal to the byte. truth.test.ts counts both.
 */
export const ACCURACY = { runs: 73, equalReserved: 70 } as const;

import { formatPercent } from '../../base/format.ts';
import type { RecordedRun } from './recorded-run.ts';
import type { WhatIfResult } from './types.ts';

/** What findings quote and the verdict recommends: it closes gaps, and of all settings it costs least. */
export const CITED_SETTING = 'expandable_segments:True';

/** PYTORCH_ALLOC_CONF settings worth trying on any recording; '' is the default. */
export const PRESETS: readonly string[] = [
  '',
  CITED_SETTING,
  'expandable_segments:True,roundup_power2_divisions:8',
  'max_split_size_mb:64',
  'max_split_size_mb:128',
  'max_split_size_mb:512',
  'roundup_power2_divisions:8',
  'roundup_power2_divisions:[256:1,512:2,1024:4,>:8]',
  'garbage_collection_threshold:0.8',
  'garbage_collection_threshold:0.6,max_split_size_mb:128',
];

/** Without a limit, PyTorch ignores its option. */
export const needsLimit = (settings: string): boolean =>
  settings.includes('garbage_collection_threshold');

/** Whether a setting makes no difference to what users see. Other rounding may still allocate a little more. */
export const changesNothing = (recorded: RecordedRun, result: WhatIfResult): boolean =>
  result.ooms.length === recorded.ooms &&
  result.peakReservedBytes === recorded.peakReservedBytes &&
  result.retries === recorded.retries &&
  callsOf(result) === callsOf(recorded);

const callsOf = (run: Pick<RecordedRun, 'deviceAllocs' | 'deviceFrees'>): number =>
  run.deviceAllocs + run.deviceFrees;

/**
 * The text to put before a command: with the current variable name (2.9 and later), and with the older one, which all
 * versions read. Quoted if a shell would interpret a character: the '>' of '[256:1,>:8]' would write a file.
 */
export function environmentLines(settings: string): readonly [string, string] {
  const value = /^[\w:,.]*$/.test(settings) ? settings : `'${settings.replaceAll("'", "'\\''")}'`;
  return [`PYTORCH_ALLOC_CONF=${value}`, `PYTORCH_CUDA_ALLOC_CONF=${value}`];
}

const GIB = 2 ** 30;
/**
 * What a process uses on a card besides PyTorch's memory: CUDA context, kernels, cuBLAS and cuDNN. On an H200 with CUDA
 * 13, OOM messages in our recordings say 0.5 to 0.65 GiB; NCCL takes more.
 */
export const CONTEXT_BYTES = 0.65 * GIB;

export const COMMON_CARDS_GIB: readonly number[] = [
  4, 6, 8, 10, 11, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 141, 192,
];

export function limitOfCard(gib: number): number {
  return Math.floor(gib * GIB - CONTEXT_BYTES);
}

/** 16.2 GiB → 20: the smallest common card that leaves that much for PyTorch. */
export function cardFor(limitBytes: number): number | undefined {
  return COMMON_CARDS_GIB.find((gib) => limitOfCard(gib) >= limitBytes);
}

export interface Ranked
  extends Pick<WhatIfResult, 'ooms' | 'events' | 'peakReservedBytes' | 'retries'> {
  /** The result of the card search. `gib` undefined: no common card is enough. */
  readonly card?: { readonly gib: number | undefined } | undefined;
}

/** The recommended one first, then the better ones. */
export function ranked<Run extends Tried>(
  recorded: Parameters<typeof recommended>[0],
  runs: readonly Run[],
): readonly Run[] {
  const first = recommended(recorded, runs);
  return [...runs].sort((a, b) => Number(b === first) - Number(a === first) || compareRuns(a, b));
}

/**
 * Sorts the better setting first: no out-of-memory error, or the later one, because a run that ends early needs little;
 * then the smaller card (an occasional retry is better than a larger card), the least reserved memory, the fewest retries.
 */
export function compareRuns(a: Ranked, b: Ranked): number {
  return (
    Number(a.ooms.length > 0) - Number(b.ooms.length > 0) ||
    b.events - a.events ||
    a.ooms.length - b.ooms.length ||
    compareCards(a.card, b.card) ||
    a.peakReservedBytes - b.peakReservedBytes ||
    a.retries - b.retries
  );
}

/** Of the recorded peak: a setting that saves only this much more is not worth another option. */
const ALIKE_SHARE = 0.05;
/** '5%', for sentences that say which settings are alike. */
export const ALIKE_TEXT = formatPercent(ALIKE_SHARE);

type Start = Pick<RecordedRun, 'startReservedBytes'>;

/**
 * What the recorded run had cached when the recording began and a run under another kind of segments begins without:
 * so much of the difference between their peaks may not be the setting's. 0 if too little to matter.
 */
export function startGapBytes(
  { startReservedBytes }: Start,
  recorded: Start & Pick<RecordedRun, 'peakReservedBytes'>,
): number {
  const bytes = recorded.startReservedBytes - startReservedBytes;
  return bytes > ALIKE_SHARE * recorded.peakReservedBytes ? bytes : 0;
}

/** Whether tables mark a run's figures for that. One that ran out of memory shows none. */
export const startsOtherwise = (
  run: Start & { readonly ooms: number | readonly unknown[] },
  recorded: Parameters<typeof startGapBytes>[1],
): boolean => {
  const failures = typeof run.ooms === 'number' ? run.ooms : run.ooms.length;
  return failures === 0 && startGapBytes(run, recorded) > 0;
};

/** Each stalls the program once. */
const FEW_RETRIES = 3;

interface Tried extends Ranked, Pick<WhatIfResult, 'settings' | 'limitBytes'> {}

/**
 * The setting to recommend: the simplest whose run is good enough, so a combination only if nothing simpler is. Under
 * the limit that the recorded run hit, serving every request is enough, and its own setting served none. Elsewhere a run
 * must reserve about as little as the best one, without releasing the cache more often, but for a few times in the whole
 * run. Undefined if memory runs out under each.
 */
export function recommended<Run extends Tried>(
  recorded: Pick<RecordedRun, 'settings' | 'ooms' | 'retries' | 'peakReservedBytes' | 'limit'>,
  runs: readonly Run[],
): Run | undefined {
  const served = runs.filter(({ ooms }) => ooms.length === 0);
  const fewest = Math.min(...served.map(({ retries }) => retries));
  const mostRetries = Math.max(fewest, recorded.retries, FEW_RETRIES);
  const calm = served.filter(({ retries }) => retries <= mostRetries);
  const lowest = Math.min(...calm.map(({ peakReservedBytes }) => peakReservedBytes));
  const most = lowest + ALIKE_SHARE * recorded.peakReservedBytes;
  const enough = served.filter((run) =>
    recorded.ooms > 0 && run.limitBytes !== undefined
      ? run.settings !== recorded.settings || run.limitBytes > (recorded.limit?.likelyBytes ?? 0)
      : calm.includes(run) && run.peakReservedBytes <= most,
  );
  const options = ({ settings }: Tried) =>
    settings === recorded.settings ? -1 : (settings.match(/[a-z_]\w*:/g)?.length ?? 0);
  const isOther = ({ settings }: Tried) => Number(settings !== CITED_SETTING);
  const [first] = [...enough].sort(
    (a, b) => options(a) - options(b) || isOther(a) - isOther(b) || compareRuns(a, b),
  );
  return first;
}

/** Equal while one of the cards is not known. */
function compareCards(a: Ranked['card'], b: Ranked['card']): number {
  if (a === undefined || b === undefined || a.gib === b.gib) return 0;
  return (a.gib ?? Infinity) - (b.gib ?? Infinity);
}

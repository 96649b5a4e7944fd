/**
 * Why entries of the two accounts differ: a larger batch, another precision, one more layer, another optimizer,
 * checkpointing, a wrapper. Kept and growing memory needs no explanation: its entry says it all.
 */
import { formatBytes } from '../../base/format.ts';
import type { EntryKind } from '../account/types.ts';
import { changedLines, framesText, joinWithAnd } from './change-text.ts';
import {
  FEATURE_NAMES,
  FEATURES,
  type Feature,
  type Program,
  programOf,
} from './program-features.ts';
import {
  autocastText,
  changedLike,
  classChange,
  layersText,
  modelText,
  sizeText,
  weightsText,
} from './size-patterns.ts';
import type { ComparisonFacts, SideFrame } from './types.ts';

/** Why entries of these kinds differ, with the evidence, without a period. */
interface Explanation {
  readonly kinds: readonly EntryKind[];
  readonly why: string;
}

interface Programs {
  readonly A: Program;
  readonly B: Program;
}

const OF_BATCH: readonly EntryKind[] = ['activations', 'temporaries', 'inputs'];
/** Kinds that scale with the size of the model. */
const OF_MODEL: readonly EntryKind[] = [
  ...(['parameters', 'gradients', 'optimizer-state', 'activations', 'temporaries'] as const),
];
const EVERYTHING: readonly EntryKind[] = [
  ...OF_MODEL,
  ...(['inputs', 'communication', 'workspaces', 'unknown'] as const),
];

/** Says why, or nothing. */
type Pattern = (facts: ComparisonFacts, programs: Programs) => string | undefined;

const CHECKPOINTING: readonly [readonly EntryKind[], Pattern] = [OF_BATCH, checkpointText];
const SIZES: readonly [readonly EntryKind[], Pattern] = [OF_BATCH, sizeText];

/**
 * An entry belongs to the first explanation of its kind. What call stacks prove (a wrapper, a compiler) comes before
 * what sizes and counts suggest, because wrappers and compilers change those too.
 */
const PATTERNS: readonly (readonly [readonly EntryKind[], Pattern])[] = [
  [EVERYTHING, wrapperText],
  CHECKPOINTING,
  [['optimizer-state'], optimizerText],
  [OF_MODEL, layersText],
  [OF_MODEL, weightsText],
  [['parameters', 'gradients', 'optimizer-state'], modelText],
  SIZES,
  [['activations', 'temporaries'], autocastText],
  [['gradients'], keptGradientsText],
  [['activations'], gradText],
];
/** If one side's model was made before the recording, little else can be compared. */
const UNSEEN_PATTERNS = [CHECKPOINTING, SIZES, [EVERYTHING, unseenText]] as const;

export function explanationsOf(facts: ComparisonFacts): Explanation[] {
  const programs = { A: programOf(facts.a), B: programOf(facts.b) };
  const patterns = unseenText(facts) === undefined ? PATTERNS : UNSEEN_PATTERNS;
  return patterns.flatMap(([kinds, pattern]) => {
    const why = pattern(facts, programs);
    return why === undefined ? [] : { kinds, why };
  });
}

/** If the shares from before the recording differ by more than this, classes can't be compared. */
const UNSEEN_SHARE = 0.1;

/** Weights and optimizer state made before the recording look missing on that side. */
function unseenText(facts: ComparisonFacts): string | undefined {
  const { bytesA, bytesB } = classChange(facts, 'before-recording');
  const shareA = bytesA / Math.max(1, facts.a.counters.allocatedBytes);
  const shareB = bytesB / Math.max(1, facts.b.counters.allocatedBytes);
  if (Math.abs(shareA - shareB) < UNSEEN_SHARE) return undefined;
  const [side, bytes] = shareB > shareA ? (['B', bytesB] as const) : (['A', bytesA] as const);
  return `${formatBytes(bytes)} in ${side} are from before the recording: they have no call site, so they cannot be compared with anything in ${otherOf(side)}`;
}

type Side = keyof Programs;

const otherOf = (side: Side): Side => (side === 'A' ? 'B' : 'A');

/** The side that has a feature, if only one does. */
function hasAlone(feature: Feature, { A, B }: Programs): Side | undefined {
  if (A.features.has(feature) === B.features.has(feature)) return undefined;
  return A.features.has(feature) ? 'A' : 'B';
}

/** 'B shards the model with FSDP and A copies the model to every GPU with DDP' */
function wrapperText(_: ComparisonFacts, programs: Programs): string | undefined {
  const found = FEATURE_NAMES.filter((name) => name !== 'checkpointing').flatMap((name) => {
    const side = hasAlone(name, programs);
    if (side === undefined) return [];
    const { says, otherwise } = FEATURES[name];
    const other = otherwise === undefined ? '' : ` and ${otherOf(side)} ${otherwise}`;
    return `${side} ${says}${other}`;
  });
  return found.length === 0 ? undefined : joinWithAnd(found);
}

const MAX_RECOMPUTED = 4;

function checkpointText(_: ComparisonFacts, programs: Programs): string | undefined {
  const side = hasAlone('checkpointing', programs);
  if (side === undefined) return undefined;
  const lines = framesText(programs[side].recomputed, MAX_RECOMPUTED);
  const again = lines === '' ? '' : `, and runs ${lines} again in the backward pass`;
  return `${side} ${FEATURES.checkpointing.says}${again}`;
}

function optimizerText(facts: ComparisonFacts, programs: Programs): string | undefined {
  const parameters = classChange(facts, 'parameters');
  const state = classChange(facts, 'optimizer-state');
  const notable = Math.max(2 ** 20, 0.02 * facts.a.counters.allocatedBytes);
  // Sharded state is smaller whatever optimizer runs.
  const sharding = hasAlone('fsdp', programs) ?? hasAlone('deepspeed', programs);
  if (Math.abs(state.differenceBytes) < notable || sharding !== undefined) return undefined;
  // A larger model has more state, so compare state per byte of parameters.
  const ratio = (bytes: number, of: number) => (of === 0 ? 0 : bytes / of);
  const perByteA = ratio(state.bytesA, parameters.bytesA);
  const perByteB = ratio(state.bytesB, parameters.bytesB);
  if (Math.abs(perByteA - perByteB) < 0.2) return undefined;
  return `${perByteA.toFixed(1)} bytes per byte of parameters in A, ${perByteB.toFixed(1)} in B: ${optimizersText(programs)}`;
}

function optimizersText({ A: { optimizer: a }, B: { optimizer: b } }: Programs): string {
  const none = 'has none, or one that keeps nothing, such as SGD without momentum';
  if (a === b) return a === undefined ? 'another optimizer' : `${a} in both, with other settings`;
  return `A ${a === undefined ? none : `runs ${a}`}, and B ${b === undefined ? none : `runs ${b}`}`;
}

/** Gradients of all parameters are live on one side and freed on the other. */
function keptGradientsText(facts: ComparisonFacts): string | undefined {
  const parameters = classChange(facts, 'parameters');
  const { differenceBytes: change } = classChange(facts, 'gradients');
  const whole = change > 0 ? parameters.bytesB : parameters.bytesA;
  if (whole === 0 || Math.abs(change) < 0.6 * whole) return undefined;
  return `${change > 0 ? 'B' : 'A'} still has those of all parameters: it is at another moment of a step, they are summed over several batches, or zero_grad() keeps them (set_to_none=False)`;
}

/** An evaluation: neither side runs backward, and the larger side keeps what backward would need. */
function gradText(facts: ComparisonFacts, { A, B }: Programs): string | undefined {
  const { differenceBytes: change } = classChange(facts, 'activations');
  if (A.hasBackward || B.hasBackward || change / facts.differenceBytes < 0.5) return undefined;
  const side = change > 0 ? 'B' : 'A';
  const lines = changedLines(changedLike(facts, ['activations'], change));
  return `${side} keeps what no backward pass uses, at ${lines}: torch.no_grad() or inference_mode() is missing in ${side}`;
}

const MAX_FUNCTIONS = 3;

/** Code that only one side runs: the last resort, for what nothing else explains. */
export function oneSidedText(facts: ComparisonFacts): string | undefined {
  // A program that ran out of memory didn't run the rest of its code.
  const a = facts.b.ooms > 0 ? [] : facts.oneSided.a;
  const b = facts.a.ooms > 0 ? [] : facts.oneSided.b;
  const text = (lines: readonly SideFrame[]) => {
    const names = [...new Set(lines.map(({ name }) => name))].slice(0, MAX_FUNCTIONS);
    return `${joinWithAnd(names)} at ${framesText(lines, 3)}`;
  };
  if (a.length > 0 && b.length > 0) return `where A runs ${text(a)}, B runs ${text(b)}`;
  if (b.length > 0) return `B runs code that A does not have, ${text(b)}`;
  return a.length > 0 ? `A runs code that B does not have, ${text(a)}` : undefined;
}

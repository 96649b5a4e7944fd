/**
 * Why entries of the two accounts differ: a larger batch, another precision, one more layer, another optimizer,
 * checkpointing, a wrapper. Kept and growing memory needs no explanation: its entry says it all.
 */
import { formatBytes } from '../../base/format.ts';
import type { EntryKind } from '../account/types.ts';
import { changedLines, framesText, joinWithAnd } from './change-text.ts';
import { FEATURES, type Feature, type Program, programOf } from './program-features.ts';
import {
  autocastPattern,
  classChange,
  type Explanation,
  layersPattern,
  modelPattern,
  OF_BATCH,
  OF_MODEL,
  sizePattern,
  weightsPattern,
} from './size-patterns.ts';
import type { CallSiteChange, ComparisonFacts, SideFrame } from './types.ts';

/**
 * An entry belongs to the first explanation of its kind. What call stacks prove (a wrapper, a compiler) comes before
 * what sizes and counts suggest, because wrappers and compilers change those too.
 */
export function explanationsOf(facts: ComparisonFacts): Explanation[] {
  const a = programOf(facts.a);
  const b = programOf(facts.b);
  const unseen = unseenPattern(facts);
  if (unseen.length > 0) return [...checkpointPattern(a, b), ...sizePattern(facts), ...unseen];
  return [
    ...wrapperPattern(a, b),
    ...compilePattern(a, b),
    ...checkpointPattern(a, b),
    ...optimizerPattern(a, b, facts),
    ...layersPattern(facts),
    ...weightsPattern(facts),
    ...modelPattern(facts),
    ...sizePattern(facts),
    ...autocastPattern(facts),
    ...keptGradientsPattern(facts),
    ...gradPattern(a, b, facts),
  ];
}

const EVERYTHING: readonly EntryKind[] = [
  ...OF_MODEL,
  ...(['inputs', 'communication', 'workspaces', 'unknown'] as const),
];

/** If the shares from before the recording differ by more than this, classes can't be compared. */
const UNSEEN_SHARE = 0.1;

/** Weights and optimizer state made before the recording look missing on that side. */
function unseenPattern(facts: ComparisonFacts): Explanation[] {
  const { bytesA, bytesB } = classChange(facts, 'before-recording');
  const shareA = bytesA / Math.max(1, facts.a.counters.allocatedBytes);
  const shareB = bytesB / Math.max(1, facts.b.counters.allocatedBytes);
  if (Math.abs(shareA - shareB) < UNSEEN_SHARE) return [];
  const [side, bytes] = shareB > shareA ? (['B', bytesB] as const) : (['A', bytesA] as const);
  const why = `${formatBytes(bytes)} in ${side} are from before the recording: they have no call site, so nothing of ${otherOf(side)} can be set against them`;
  return [{ kinds: EVERYTHING, why }];
}

type Side = 'A' | 'B';

const otherOf = (side: Side): Side => (side === 'A' ? 'B' : 'A');

/** The side that has a feature, if only one does. */
function hasAlone(feature: Feature, a: Program, b: Program): Side | undefined {
  if (a.features.has(feature) === b.features.has(feature)) return undefined;
  return a.features.has(feature) ? 'A' : 'B';
}

function wrapperPattern(a: Program, b: Program): Explanation[] {
  const wrappers = (['fsdp', 'ddp', 'deepspeed', 'peft'] as const).flatMap((feature) => {
    const side = hasAlone(feature, a, b);
    return side === undefined ? [] : [`${side} ${FEATURES[feature].says}`];
  });
  return wrappers.length === 0 ? [] : [{ kinds: EVERYTHING, why: joinWithAnd(wrappers) }];
}

function compilePattern(a: Program, b: Program): Explanation[] {
  const side = hasAlone('compiling', a, b);
  if (side === undefined) return [];
  const why = `${side} ${FEATURES.compiling.says} and ${otherOf(side)} runs eagerly`;
  return [{ kinds: EVERYTHING, why }];
}

const MAX_RECOMPUTED = 4;

function checkpointPattern(a: Program, b: Program): Explanation[] {
  const side = hasAlone('checkpointing', a, b);
  if (side === undefined) return [];
  const lines = framesText((side === 'A' ? a : b).recomputed, MAX_RECOMPUTED);
  const again = lines === '' ? '' : `, and runs ${lines} again in the backward pass`;
  return [{ kinds: OF_BATCH, why: `${side} ${FEATURES.checkpointing.says}${again}` }];
}

function optimizerPattern(a: Program, b: Program, facts: ComparisonFacts): Explanation[] {
  const parameters = classChange(facts, 'parameters');
  const state = classChange(facts, 'optimizer-state');
  const notable = Math.max(2 ** 20, 0.02 * facts.a.counters.allocatedBytes);
  // Sharded state is smaller whatever optimizer runs.
  const isSharded =
    hasAlone('fsdp', a, b) !== undefined || hasAlone('deepspeed', a, b) !== undefined;
  if (Math.abs(state.differenceBytes) < notable || isSharded) return [];
  // A larger model has more state, so compare state per byte of parameters.
  const ratio = (bytes: number, of: number) => (of === 0 ? 0 : bytes / of);
  const perByteA = ratio(state.bytesA, parameters.bytesA);
  const perByteB = ratio(state.bytesB, parameters.bytesB);
  if (Math.abs(perByteA - perByteB) < 0.2) return [];
  const evidence = `${perByteA.toFixed(1)} bytes per byte of parameters in A, ${perByteB.toFixed(1)} in B`;
  return [{ kinds: ['optimizer-state'], why: `${evidence}: ${optimizersText(a, b)}` }];
}

function optimizersText({ optimizer: a }: Program, { optimizer: b }: Program): string {
  const none = 'has none, or one that keeps nothing, such as SGD without momentum';
  if (a === b) return a === undefined ? 'another optimizer' : `${a} in both, with other settings`;
  return `A ${a === undefined ? none : `runs ${a}`}, and B ${b === undefined ? none : `runs ${b}`}`;
}

/** Gradients of all parameters are live on one side and freed on the other. */
function keptGradientsPattern(facts: ComparisonFacts): Explanation[] {
  const parameters = classChange(facts, 'parameters');
  const { differenceBytes: change } = classChange(facts, 'gradients');
  const whole = change > 0 ? parameters.bytesB : parameters.bytesA;
  if (whole === 0 || Math.abs(change) < 0.6 * whole) return [];
  const why = `${change > 0 ? 'B' : 'A'} still has those of all parameters: it is at another moment of a step, they are summed over several batches, or zero_grad() keeps them (set_to_none=False)`;
  return [{ kinds: ['gradients'], why }];
}

/** An evaluation: neither side runs backward, and the larger side keeps what backward would need. */
function gradPattern(a: Program, b: Program, facts: ComparisonFacts): Explanation[] {
  const { differenceBytes: change } = classChange(facts, 'activations');
  if (a.hasBackward || b.hasBackward || change / facts.differenceBytes < 0.5) return [];
  const side = change > 0 ? 'B' : 'A';
  const lines = changedLines(changedLike(facts, ['activations'], change));
  const why = `${side} keeps what no backward pass uses, at ${lines}: torch.no_grad() or inference_mode() is missing in ${side}`;
  return [{ kinds: ['activations'], why }];
}

/** The call sites of these classes that changed in the same direction. */
export const changedLike = (
  { sites }: Pick<ComparisonFacts, 'sites'>,
  classes: readonly string[],
  change: number,
): CallSiteChange[] =>
  sites.filter(
    (site) => classes.includes(site.class) && Math.sign(site.differenceBytes) === Math.sign(change),
  );

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

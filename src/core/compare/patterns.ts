/**
 * What the changes fit: a larger batch, another precision, one more layer, another optimizer, checkpointing, a
 * leak. Each pattern is a sentence with its evidence. Those that the call stacks prove (a wrapper, a compiler)
 * come first, then those that are read from sizes and counts.
 */
import { formatBytes, plural } from '../base/format.ts';
import { changedLines, framesText, joinWithAnd, lineCount, signedBytes } from './change-text.ts';
import { growthPattern } from './growth-pattern.ts';
import { FEATURES, type Feature, type Program, programOf } from './program-features.ts';
import type { SideFrame } from './side.ts';
import {
  autocastPattern,
  classBytes,
  layersPattern,
  sizePattern,
  weightsPattern,
  widthPattern,
} from './size-patterns.ts';
import type { CallSiteChange, ComparisonFacts } from './types.ts';

/** Sentences, the cause that explains most first. */
export function patternsOf(facts: ComparisonFacts): string[] {
  const a = programOf(facts.a);
  const b = programOf(facts.b);
  const unseen = unseenPattern(facts);
  // Weights and optimizer state that nobody saw being made seem to be missing on one side.
  if (unseen.length > 0)
    return [...unseen, ...checkpointPattern(a, b, facts), ...sizePattern(facts)];
  const certain = [
    ...wrapperPattern(a, b, facts),
    ...compilePattern(a, b, facts),
    ...checkpointPattern(a, b, facts),
    ...optimizerPattern(a, b, facts),
  ];
  const growth = growthPattern(facts);
  // All activations at one ratio are another batch; autocast halves some of them.
  const batch = sizePattern(facts);
  const shape = [
    ...layersPattern(facts),
    ...widthPattern(facts),
    ...weightsPattern(facts),
    ...(batch.length > 0 ? batch : autocastPattern(facts)),
  ];
  // A wrapper or a compiler changes sizes and counts by itself: they say nothing more then.
  const isReshaped = certain.length > 0;
  const found = isReshaped ? [...certain, ...growth] : [...growth, ...shape];
  const gradients = isReshaped ? [] : keptGradientsPattern(facts);
  if (found.length + gradients.length > 0) return [...found, ...gradients];
  const named = [...gradPattern(a, b, facts), ...copyPattern(facts)];
  if (named.length > 0) return named;
  const code = onlyCodePattern(facts);
  return code.length > 0 ? code : classPattern(facts);
}

/** A larger part of the memory than this from before the recording leaves no class whole. */
const UNSEEN_SHARE = 0.1;

function unseenPattern(facts: ComparisonFacts): string[] {
  const before = classBytes(facts, 'before-recording');
  const shareA = before.bytesA / Math.max(1, facts.a.counters.allocatedBytes);
  const shareB = before.bytesB / Math.max(1, facts.b.counters.allocatedBytes);
  if (Math.abs(shareA - shareB) < UNSEEN_SHARE) return [];
  const [side, bytes] =
    shareB > shareA ? (['b', before.bytesB] as const) : (['a', before.bytesA] as const);
  return [
    `${formatBytes(bytes)} in ${nameOf(side)} are from before the recording: they have no call site, so nothing of ${otherOf(side)} can be set against them.`,
  ];
}

type Has = 'a' | 'b';

/** The side that has a feature when one alone has it. */
function hasAlone(feature: Feature, a: Program, b: Program): Has | undefined {
  const [inA, inB] = [a.features.has(feature), b.features.has(feature)];
  if (inA === inB) return undefined;
  return inA ? 'a' : 'b';
}

const nameOf = (side: Has): string => side.toUpperCase();
const otherOf = (side: Has): string => (side === 'a' ? 'B' : 'A');

function wrapperPattern(a: Program, b: Program, facts: ComparisonFacts): string[] {
  const wrappers = (['fsdp', 'ddp', 'deepspeed', 'peft'] as const).flatMap((feature) => {
    const side = hasAlone(feature, a, b);
    return side === undefined ? [] : [{ side, says: FEATURES[feature].says }];
  });
  if (wrappers.length === 0) return [];
  const says = wrappers.map(({ side, says }) => `${nameOf(side)} ${says}`);
  return [`${joinWithAnd(says)}: ${classesText(facts)}.`];
}

function compilePattern(a: Program, b: Program, facts: ComparisonFacts): string[] {
  const side = hasAlone('compiling', a, b);
  if (side === undefined) return [];
  return [
    `${nameOf(side)} ${FEATURES.compiling.says} and ${otherOf(side)} runs eagerly: ${classesText(facts)}.`,
  ];
}

function checkpointPattern(a: Program, b: Program, facts: ComparisonFacts): string[] {
  const side = hasAlone('checkpointing', a, b);
  if (side === undefined) return [];
  const program = side === 'a' ? a : b;
  const lines =
    program.recomputed.length === 0
      ? ''
      : `, and runs ${framesText(program.recomputed, MAX_RECOMPUTED)} again in the backward pass`;
  const verb = side === 'b' ? 'shrink' : 'grow';
  const change = classDifference(facts, 'activations');
  const effect =
    Math.sign(change) === (side === 'b' ? -1 : 1)
      ? `activations ${verb} by ${formatBytes(Math.abs(change))}`
      : classesText(facts);
  return [`${nameOf(side)} ${FEATURES.checkpointing.says}${lines}: ${effect}.`];
}

function optimizerPattern(a: Program, b: Program, facts: ComparisonFacts): string[] {
  const change = classDifference(facts, 'optimizer-state');
  const parameters = classBytes(facts, 'parameters');
  const state = classBytes(facts, 'optimizer-state');
  const notable = Math.max(2 ** 20, 0.02 * facts.a.counters.allocatedBytes);
  // What is sharded is smaller whatever optimizer runs.
  const isSharded =
    hasAlone('fsdp', a, b) !== undefined || hasAlone('deepspeed', a, b) !== undefined;
  if (Math.abs(change) < notable || isSharded) return [];
  // Of a larger model the state grows with the parameters.
  const ratio = (bytes: number, of: number) => (of === 0 ? 0 : bytes / of);
  const perByteA = ratio(state.bytesA, parameters.bytesA);
  const perByteB = ratio(state.bytesB, parameters.bytesB);
  if (Math.abs(perByteA - perByteB) < 0.2) return [];
  const evidence = `${perByteA.toFixed(1)} bytes per byte of parameters in A, ${perByteB.toFixed(1)} in B`;
  return [`Optimizer state ${signedBytes(change)} (${evidence}): ${optimizersText(a, b)}.`];
}

function optimizersText({ optimizer: a }: Program, { optimizer: b }: Program): string {
  const none = 'has none, or one that keeps nothing, such as SGD without momentum';
  if (a === b) return a === undefined ? 'another optimizer' : `${a} in both, with other settings`;
  return `A ${a === undefined ? none : `runs ${a}`}, and B ${b === undefined ? none : `runs ${b}`}`;
}

/** An evaluation: nobody runs backward, and one of the two keeps what it would need. */
function gradPattern(a: Program, b: Program, facts: ComparisonFacts): string[] {
  if (a.hasBackward || b.hasBackward) return [];
  const change = classDifference(facts, 'activations');
  if (Math.abs(change) < 0.5 * Math.abs(facts.differenceBytes)) return [];
  const side = change > 0 ? 'b' : 'a';
  const sites = changedLike(facts, 'activations', change);
  return [
    `${nameOf(side)} keeps ${formatBytes(Math.abs(change))} of activations that no backward pass uses, at ${changedLines(sites)}: torch.no_grad() or inference_mode() is missing in ${nameOf(side)}.`,
  ];
}

/** As many bytes as all parameters of the other side, in parameters that it does not have. */
function copyPattern(facts: ComparisonFacts): string[] {
  const { bytesA, bytesB } = classBytes(facts, 'parameters');
  if (Math.min(bytesA, bytesB) === 0) return [];
  const change = bytesB - bytesA;
  const whole = change > 0 ? bytesA : bytesB;
  const copies = Math.round(Math.abs(change) / whole);
  if (copies < 1 || Math.abs(Math.abs(change) / whole - copies) > 0.03) return [];
  const side = change > 0 ? 'b' : 'a';
  const sites = changedLike(facts, 'parameters', change);
  return [
    `${nameOf(side)} has ${plural(copies, 'more copy', 'more copies')} of all parameters, at ${changedLines(sites)}.`,
  ];
}

/** Gradients of all parameters are live at one peak and gone at the other. */
function keptGradientsPattern(facts: ComparisonFacts): string[] {
  const parameters = classBytes(facts, 'parameters');
  const change = classDifference(facts, 'gradients');
  const side = change > 0 ? 'b' : 'a';
  const whole = side === 'b' ? parameters.bytesB : parameters.bytesA;
  if (whole === 0 || Math.abs(change) < 0.6 * whole) return [];
  return [
    `Gradients of all parameters (${formatBytes(Math.abs(change))}) are still there at the peak of ${nameOf(side)}: they are summed over several batches, or zero_grad() keeps them (set_to_none=False).`,
  ];
}

function onlyCodePattern(facts: ComparisonFacts): string[] {
  const { a, b } = facts.onlyCode;
  const text = (lines: readonly SideFrame[]) => {
    const names = [...new Set(lines.map(({ name }) => name))].slice(0, MAX_FUNCTIONS);
    return `${joinWithAnd(names)} at ${framesText(lines, 3)}`;
  };
  const effect = classesText(facts);
  if (a.length > 0 && b.length > 0) {
    return [`Where A runs ${text(a)}, B runs ${text(b)}: ${effect}.`];
  }
  if (b.length > 0) return [`B runs code that A does not have, ${text(b)}: ${effect}.`];
  return a.length > 0 ? [`A runs code that B does not have, ${text(a)}: ${effect}.`] : [];
}

/** Nothing has a name: at least what it is, when one class is most of it. */
function classPattern(facts: ComparisonFacts): string[] {
  const [first] = facts.classes;
  if (first === undefined) return [];
  const change = first.bytesB - first.bytesA;
  if (Math.abs(change) < 0.6 * Math.abs(facts.differenceBytes)) return [];
  const own = changedLike(facts, first.class, change);
  if (lineCount(own) === 0) return [];
  const only = own.filter(({ kind }) => kind === (change > 0 ? 'only-b' : 'only-a'));
  const onlyBytes = only.reduce((sum, site) => sum + Math.abs(site.differenceBytes), 0);
  const where =
    onlyBytes >= 0.5 * Math.abs(change)
      ? `${changedLines(only)}, which only ${change > 0 ? 'B' : 'A'} keeps`
      : changedLines(own);
  return [
    `${label(first.class)} ${signedBytes(change)}, at ${where}; the two files alone do not show why.`,
  ];
}

/** Call sites of a class that changed in the direction in which the class did. */
const changedLike = ({ sites }: ComparisonFacts, name: string, change: number): CallSiteChange[] =>
  sites.filter(
    (site) => site.class === name && Math.sign(site.differenceBytes) === Math.sign(change),
  );

function classDifference(facts: ComparisonFacts, name: string): number {
  const { bytesA, bytesB } = classBytes(facts, name);
  return bytesB - bytesA;
}

const MAX_CLASSES = 3;
const MAX_RECOMPUTED = 4;
const MAX_FUNCTIONS = 3;

/** 'parameters -1.20 GiB, gradients -1.20 GiB'. */
function classesText({ classes, differenceBytes, sites }: ComparisonFacts): string {
  const moved = sites.reduce((sum, site) => sum + Math.abs(site.differenceBytes), 0);
  const least = 0.05 * Math.max(Math.abs(differenceBytes), moved / 2);
  const texts = classes
    .filter(({ bytesA, bytesB }) => Math.abs(bytesB - bytesA) >= least)
    .slice(0, MAX_CLASSES)
    .map((one) => `${label(one.class).toLowerCase()} ${signedBytes(one.bytesB - one.bytesA)}`);
  return texts.length === 0
    ? 'the classes of memory stay as they are, at other lines'
    : texts.join(', ');
}

/** 'Optimizer state' of 'optimizer-state'. */
function label(className: string): string {
  const text = className.replaceAll('-', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * What the changes fit: a larger batch, another precision, one more layer, another optimizer, checkpointing, a
 * leak. Each pattern is a sentence with its evidence. Those that the call stacks prove (a wrapper, a compiler)
 * come first, then those that are read from sizes and counts.
 */
import { formatBytes, plural } from '../base/format.ts';
import { changedLines, framesText, joined, lineCount, signedBytes } from './change-text.ts';
import { growthPattern } from './growth-pattern.ts';
import { FEATURES, type Feature, type Program, programOf } from './program-features.ts';
import { layersPattern, precisionPattern, sizePattern, widthPattern } from './size-patterns.ts';
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
  const shape = [
    ...layersPattern(facts),
    ...widthPattern(facts),
    ...precisionPattern(facts),
    ...sizePattern(facts),
  ];
  // A wrapper or a compiler changes sizes and counts by itself: they say nothing more then.
  const isReshaped = certain.length > 0;
  const found = isReshaped ? [...certain, ...growth] : [...growth, ...shape];
  if (found.length > 0) return found;
  const named = [...gradPattern(a, b, facts), ...copyPattern(facts)];
  return named.length > 0 ? named : classPattern(facts);
}

/** A larger part of the memory than this from before the recording leaves no class whole. */
const UNSEEN_SHARE = 0.1;

function unseenPattern({ a, b, classes }: ComparisonFacts): string[] {
  const before = classes.find((one) => one.class === 'before-recording');
  const shareA = (before?.bytesA ?? 0) / Math.max(1, a.counters.allocatedBytes);
  const shareB = (before?.bytesB ?? 0) / Math.max(1, b.counters.allocatedBytes);
  if (before === undefined || Math.abs(shareA - shareB) < UNSEEN_SHARE) return [];
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
  return [`${joined(says)}: ${classesText(facts)}.`];
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
  const parameters = facts.classes.find((one) => one.class === 'parameters');
  const state = facts.classes.find((one) => one.class === 'optimizer-state');
  const isOther =
    a.optimizer !== undefined && b.optimizer !== undefined && a.optimizer !== b.optimizer;
  const notable = Math.max(2 ** 20, 0.02 * facts.a.counters.allocatedBytes);
  if (Math.abs(change) < notable) return [];
  // Of a larger model the state grows with the parameters.
  const ratio = (bytes: number, of: number) => (of === 0 ? 0 : bytes / of);
  const perParameterA = ratio(state?.bytesA ?? 0, parameters?.bytesA ?? 0);
  const perParameterB = ratio(state?.bytesB ?? 0, parameters?.bytesB ?? 0);
  if (Math.abs(perParameterA - perParameterB) < 0.2) return [];
  const names = isOther
    ? `A runs ${a.optimizer} and B runs ${b.optimizer}`
    : a.optimizer === undefined && b.optimizer !== undefined
      ? `B runs ${b.optimizer}, and A has an optimizer that keeps nothing or none`
      : b.optimizer === undefined && a.optimizer !== undefined
        ? `A runs ${a.optimizer}, and B has an optimizer that keeps nothing or none`
        : 'the optimizer or its settings differ';
  return [
    `Optimizer state ${signedBytes(change)}: ${names} (state per byte of parameters: ${perParameterA.toFixed(1)} in A, ${perParameterB.toFixed(1)} in B).`,
  ];
}

/** An evaluation: nobody runs backward, and one of the two keeps what it would need. */
function gradPattern(a: Program, b: Program, facts: ComparisonFacts): string[] {
  if (a.hasBackward || b.hasBackward) return [];
  const change = classDifference(facts, 'activations');
  if (Math.abs(change) < 0.5 * Math.abs(facts.differenceBytes)) return [];
  const side = change > 0 ? 'b' : 'a';
  const sites = ofClass(facts, 'activations').filter(
    ({ differenceBytes }) => Math.sign(differenceBytes) === Math.sign(change),
  );
  return [
    `${nameOf(side)} keeps ${formatBytes(Math.abs(change))} of activations that no backward pass uses, at ${changedLines(sites)}: torch.no_grad() or inference_mode() is missing in ${nameOf(side)}.`,
  ];
}

/** As many bytes as all parameters of the other side, in parameters that it does not have. */
function copyPattern(facts: ComparisonFacts): string[] {
  const parameters = facts.classes.find((one) => one.class === 'parameters');
  if (parameters === undefined || Math.min(parameters.bytesA, parameters.bytesB) === 0) return [];
  const change = parameters.bytesB - parameters.bytesA;
  const whole = change > 0 ? parameters.bytesA : parameters.bytesB;
  const copies = Math.round(Math.abs(change) / whole);
  if (copies < 1 || Math.abs(Math.abs(change) / whole - copies) > 0.03) return [];
  const side = change > 0 ? 'b' : 'a';
  const sites = ofClass(facts, 'parameters').filter(
    ({ differenceBytes }) => Math.sign(differenceBytes) === Math.sign(change),
  );
  return [
    `${nameOf(side)} has ${plural(copies, 'more copy', 'more copies')} of all parameters, at ${changedLines(sites)}.`,
  ];
}

/** Nothing has a name: at least what it is, when one class is most of it. */
function classPattern({ classes, differenceBytes, sites }: ComparisonFacts): string[] {
  const [first] = classes;
  if (first === undefined) return [];
  const change = first.bytesB - first.bytesA;
  if (Math.abs(change) < 0.6 * Math.abs(differenceBytes)) return [];
  const own = sites.filter(
    (site) => site.class === first.class && Math.sign(site.differenceBytes) === Math.sign(change),
  );
  if (lineCount(own) === 0) return [];
  return [
    `${label(first.class)} ${signedBytes(change)}, at ${changedLines(own)}; what caused it cannot be told from the two files alone.`,
  ];
}

const ofClass = ({ sites }: ComparisonFacts, name: string): readonly CallSiteChange[] =>
  sites.filter((site) => site.class === name);

function classDifference({ classes }: ComparisonFacts, name: string): number {
  const found = classes.find((one) => one.class === name);
  return found === undefined ? 0 : found.bytesB - found.bytesA;
}

const MAX_CLASSES = 3;
const MAX_RECOMPUTED = 4;

/** 'parameters -1.20 GiB, gradients -1.20 GiB'. */
function classesText({ classes, differenceBytes }: ComparisonFacts): string {
  const least = 0.05 * Math.max(Math.abs(differenceBytes), 2 ** 20);
  const texts = classes
    .filter(({ bytesA, bytesB }) => Math.abs(bytesB - bytesA) >= least)
    .slice(0, MAX_CLASSES)
    .map((one) => `${label(one.class).toLowerCase()} ${signedBytes(one.bytesB - one.bytesA)}`);
  return texts.length === 0 ? 'no class of memory changes by much' : texts.join(', ');
}

/** 'Optimizer state' of 'optimizer-state'. */
function label(className: string): string {
  const text = className.replaceAll('-', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Explanations based on sizes and counts of matched call sites: batch, precision, layers, width. */
import { formatPercent, plural } from '../../base/format.ts';
import type { EntryKind } from '../account/types.ts';
import { changedLines, lineCount } from './change-text.ts';
import type { CallSiteChange, ClassChange, ComparisonFacts } from './types.ts';

/** Why entries of these kinds differ, with the evidence, without a period. */
export interface Explanation {
  readonly kinds: readonly EntryKind[];
  readonly why: string;
}

export const OF_BATCH: readonly EntryKind[] = ['activations', 'temporaries', 'inputs'];
/** Kinds that scale with the size of the model. */
export const OF_MODEL: readonly EntryKind[] = [
  'parameters',
  'gradients',
  'optimizer-state',
  'activations',
  'temporaries',
];

/** Share of a class's bytes that must fit the pattern. */
const MOST = 0.6;
/** Lines that must agree on a ratio. */
const MIN_LINES = 2;
/** Relative distance within which ratios count as equal. */
const NEAR = 0.06;

const ofClass = ({ sites }: ComparisonFacts, ...names: readonly string[]): CallSiteChange[] =>
  sites.filter((site) => names.includes(site.class));

export const classBytes = ({ classes }: ComparisonFacts, name: string): ClassChange =>
  classes.find((one) => one.class === name) ?? { class: name, bytesA: 0, bytesB: 0 };

const isMatched = ({ countA, countB }: CallSiteChange): boolean => countA > 0 && countB > 0;

const ratioOf = ({ bytesA, bytesB }: CallSiteChange): number => bytesB / bytesA;

const bytesOf = (sites: readonly CallSiteChange[]): number =>
  sites.reduce((sum, { bytesA, bytesB }) => sum + Math.max(bytesA, bytesB), 0);

/** The median ratio, weighted by bytes. */
function medianRatio(sites: readonly CallSiteChange[]): number {
  const sorted = [...sites].sort((x, y) => ratioOf(x) - ratioOf(y));
  const half = bytesOf(sorted) / 2;
  let below = 0;
  for (const site of sorted) {
    below += bytesOf([site]);
    if (below >= half) return ratioOf(site);
  }
  return 1;
}

const isNear = (value: number, wanted: number): boolean => Math.abs(value / wanted - 1) <= NEAR;

/** The parameters agree within a few percent. */
function hasSameModel(facts: ComparisonFacts): boolean {
  const { bytesA, bytesB } = classBytes(facts, 'parameters');
  return bytesA === 0 || isNear(bytesB / bytesA, 1);
}

/** Activations at the same lines, equal in number, all with one ratio: the batch or the sequence changed. */
export function sizePattern(facts: ComparisonFacts): Explanation[] {
  if (!hasSameModel(facts)) return [];
  const matched = ofClass(facts, 'activations').filter(isMatched);
  const ratio = medianRatio(matched);
  if (matched.length === 0 || isNear(ratio, 1)) return [];
  const fitting = matched.filter((site) => isNear(ratioOf(site), ratio));
  const squared = matched.filter((site) => isNear(ratioOf(site), ratio * ratio));
  const share = bytesOf([...fitting, ...squared]) / bytesOf(ofClass(facts, 'activations'));
  // A single line may be larger for reasons of its own.
  if (share < MOST || lineCount(fitting) < MIN_LINES) return [];
  const lines = plural(lineCount(fitting), 'line');
  const evidence = `activations at the same ${lines} are ${timesText(ratio)}`;
  if (bytesOf(squared) >= 0.05 * bytesOf(matched)) {
    const why = `${evidence}, and those at ${changedLines(squared)} by the square of it: the sequence ${changeText(ratio)}`;
    return [{ kinds: OF_BATCH, why }];
  }
  return [{ kinds: OF_BATCH, why: `${evidence}: the batch or the sequence ${changeText(ratio)}` }];
}

/** The same parameters in half or twice as many bits. */
export function weightsPattern(facts: ComparisonFacts): Explanation[] {
  const weights = ofClass(facts, 'parameters').filter(isMatched);
  const ratio = medianRatio(weights);
  const isHalf = isNear(ratio, 0.5);
  if (weights.length === 0 || !(isHalf || isNear(ratio, 2))) return [];
  const fitting = weights.filter(
    (site) => isNear(ratioOf(site), ratio) && site.countA === site.countB,
  );
  if (bytesOf(fitting) < MOST * bytesOf(ofClass(facts, 'parameters'))) return [];
  const words = isHalf ? 'half as large in B' : 'twice as large in B';
  const meaning = isHalf
    ? 'B keeps them in 16 bits where A has 32'
    : 'B keeps them in 32 bits where A has 16';
  const why = `the same ${plural(sumOf(fitting, 'countB'), 'parameter')} are ${words}: ${meaning}, a change of precision`;
  return [{ kinds: OF_MODEL, why }];
}

/**
 * Autocast halves some activations, leaves others alone, and adds casts of the weights. A smaller batch would halve
 * them all, inputs included.
 */
export function autocastPattern(facts: ComparisonFacts): Explanation[] {
  if (!hasSameModel(facts)) return [];
  const all = ofClass(facts, 'activations');
  const matched = all.filter(isMatched);
  const halved = (site: CallSiteChange) => hasHalvedSizes(site, 'b');
  const doubled = (site: CallSiteChange) => hasHalvedSizes(site, 'a');
  const [down, up] = [matched.filter(halved), matched.filter(doubled)];
  const isDown = bytesOf(down) >= bytesOf(up);
  const fitting = isDown ? down : up;
  if (fitting.length === 0 || bytesOf(fitting) < 0.35 * bytesOf(all)) return [];
  const inputs = ofClass(facts, 'inputs').filter(isMatched);
  const isOtherBatch = inputs.length > 0 && isNear(medianRatio(inputs), isDown ? 0.5 : 2);
  if (isOtherBatch) return [];
  const [half, full] = isDown ? ['B', 'A'] : ['A', 'B'];
  const share = formatPercent(bytesOf(fitting) / bytesOf(all), 0);
  const why = `${share} of the activations have sizes in ${half} that are half of those in ${full}, while parameters and inputs are the same: ${half} computes in 16 bits (autocast)`;
  return [{ kinds: ['activations', 'temporaries'], why }];
}

/** Half of the other side's sizes appear here at half the size, and are gone at their own. */
function hasHalvedSizes(site: CallSiteChange, in16Bits: 'a' | 'b'): boolean {
  const [small, large] = in16Bits === 'b' ? [site.sizesB, site.sizesA] : [site.sizesA, site.sizesB];
  const own = new Set(small.map(({ bytes }) => bytes));
  const before = large.filter(({ bytes }) => bytes >= 2 ** 10);
  const total = before.reduce((sum, { bytes, count }) => sum + bytes * count, 0);
  const halved = before.filter(({ bytes }) => own.has(bytes / 2));
  const bytes = halved.reduce((sum, size) => sum + size.bytes * size.count, 0);
  return total > 0 && bytes >= 0.5 * total && !isNear(ratioOf(site), 1);
}

/** More parameters and more activations, in sizes that already existed: more layers. */
export function layersPattern(facts: ComparisonFacts): Explanation[] {
  const parameters = ofClass(facts, 'parameters').filter(isMatched);
  const copied = parameters.filter(({ kind }) => kind === 'more' || kind === 'fewer');
  const isMore = sumOf(copied, 'countB') > sumOf(copied, 'countA');
  const fitting = copied.filter(({ kind }) => kind === (isMore ? 'more' : 'fewer'));
  if (fitting.length === 0 || hasSameModel(facts)) return [];
  const activations = ofClass(facts, 'activations').filter(
    (site) => isMatched(site) && site.kind === (isMore ? 'more' : 'fewer'),
  );
  const [largest] = fitting;
  const layers = layerCount(activations);
  const lines =
    activations.length === 0
      ? ''
      : `, and activations at the same ${plural(lineCount(activations), 'line')} have ${isMore ? 'more' : 'fewer'} copies`;
  const why = `${sumOf(fitting, 'countB')} parameters instead of ${sumOf(fitting, 'countA')} at ${changedLines([largest])}, of sizes that were there before${lines}: the model of B has ${layersText(layers, isMore)}`;
  return [{ kinds: OF_MODEL, why }];
}

function layersText(layers: number | undefined, isMore: boolean): string {
  const more = isMore ? 'more' : 'fewer';
  if (layers === undefined) return `${more} layers`;
  return `${layers === 1 ? 'one layer' : `${layers} layers`} ${more}`;
}

const sumOf = (
  sites: readonly CallSiteChange[],
  column: 'countA' | 'countB' | 'differenceBytes',
): number => sites.reduce((sum, site) => sum + site[column], 0);

/** A line in a layer keeps at least one tensor per layer. */
function layerCount(activations: readonly CallSiteChange[]): number | undefined {
  const counts = activations.map(({ countA, countB }) => Math.abs(countB - countA));
  return counts.length === 0 ? undefined : Math.min(...counts);
}

/** Another model: what it keeps per parameter grows with it. */
export function modelPattern(facts: ComparisonFacts): Explanation[] {
  const entryOf = (kind: EntryKind) => facts.entries.find((entry) => entry.kind === kind);
  const [own, state] = [entryOf('parameters'), entryOf('optimizer-state')];
  const ratio = own === undefined ? 1 : own.bytesB / own.bytesA;
  // State that shrinks while parameters grow has only moved to another class.
  const isTogether = (own?.differenceBytes ?? 0) * (state?.differenceBytes ?? 0) >= 0;
  if (ratio === 0 || ratio === Number.POSITIVE_INFINITY || isNear(ratio, 1) || !isTogether)
    return [];
  const why = `the parameters of B are ${timesText(ratio)} as those of A`;
  return [{ kinds: ['parameters', 'gradients', 'optimizer-state'], why }];
}

/** 'twice as large', 'half as large', '1.5 times as large'. */
function timesText(ratio: number): string {
  if (isNear(ratio, 2)) return 'twice as large';
  if (isNear(ratio, 0.5)) return 'half as large';
  return `${ratio.toFixed(ratio < 0.1 ? 2 : 1)} times as large`;
}

function changeText(ratio: number): string {
  if (isNear(ratio, 2)) return 'doubled';
  if (isNear(ratio, 0.5)) return 'halved';
  return `is ${timesText(ratio)}`;
}

/** Explanations based on sizes and counts of matched call sites: batch, precision, layers, width. */

import { sumBy } from '../../base/collections.ts';
import { lowest } from '../../base/extremes.ts';
import { formatPercent, plural } from '../../base/format.ts';
import { changedLines, lineCount } from './change-text.ts';
import type { CallSiteChange, ComparisonFacts, SizeCount } from './types.ts';

/** Share of a class's bytes that must fit the pattern. */
const MOST = 0.6;
/** Lines that must agree on a ratio. */
const MIN_LINES = 2;
/** Relative distance within which ratios count as equal. */
const NEAR = 0.06;

const ofClass = ({ sites }: ComparisonFacts, name: string): CallSiteChange[] =>
  sites.filter((site) => site.class === name);

/** Those of a class that both sides have. */
const matchedOf = (facts: ComparisonFacts, name: string): CallSiteChange[] =>
  ofClass(facts, name).filter(({ countA, countB }) => countA > 0 && countB > 0);

export function classChange({ classes }: ComparisonFacts, name: string) {
  const { bytesA = 0, bytesB = 0 } = classes.find((one) => one.class === name) ?? {};
  return { bytesA, bytesB, differenceBytes: bytesB - bytesA };
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

const ratioOf = ({ bytesA, bytesB }: CallSiteChange): number => bytesB / bytesA;

const bytesOf = (sites: readonly CallSiteChange[]): number =>
  sumBy(sites, ({ bytesA, bytesB }) => Math.max(bytesA, bytesB));

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

function hasSameModel(facts: ComparisonFacts): boolean {
  const { bytesA, bytesB } = classChange(facts, 'parameters');
  return bytesA === 0 || isNear(bytesB / bytesA, 1);
}

/** Activations at the same lines, equal in number, all with one ratio: the batch or the sequence changed. */
export function sizeText(facts: ComparisonFacts): string | undefined {
  if (!hasSameModel(facts)) return undefined;
  const matched = matchedOf(facts, 'activations');
  const ratio = medianRatio(matched);
  if (matched.length === 0 || isNear(ratio, 1)) return undefined;
  const fitting = matched.filter((site) => isNear(ratioOf(site), ratio));
  const squared = matched.filter((site) => isNear(ratioOf(site), ratio * ratio));
  const share = bytesOf([...fitting, ...squared]) / bytesOf(ofClass(facts, 'activations'));
  // A single line may be larger for reasons of its own.
  if (share < MOST || lineCount(fitting) < MIN_LINES) return undefined;
  const lines = plural(lineCount(fitting), 'line');
  const evidence = `activations at the same ${lines} are ${timesText(ratio)}`;
  if (bytesOf(squared) >= 0.05 * bytesOf(matched)) {
    return `${evidence}, and those at ${changedLines(squared)} by the square of it: the sequence ${changeText(ratio)}`;
  }
  return `${evidence}: the batch or the sequence ${changeText(ratio)}`;
}

/** The same parameters in half or twice as many bits. */
export function weightsText(facts: ComparisonFacts): string | undefined {
  const weights = matchedOf(facts, 'parameters');
  const ratio = medianRatio(weights);
  const isHalf = isNear(ratio, 0.5);
  if (weights.length === 0 || !(isHalf || isNear(ratio, 2))) return undefined;
  const fitting = weights.filter(
    (site) => isNear(ratioOf(site), ratio) && site.countA === site.countB,
  );
  if (bytesOf(fitting) < MOST * bytesOf(ofClass(facts, 'parameters'))) return undefined;
  const words = isHalf ? 'half as large in B' : 'twice as large in B';
  const meaning = isHalf
    ? 'B keeps them in 16 bits where A has 32'
    : 'B keeps them in 32 bits where A has 16';
  const count = sumBy(fitting, ({ countB }) => countB);
  return `the same ${plural(count, 'parameter')} are ${words}: ${meaning}, a change of precision`;
}

/**
 * Autocast halves some activations, leaves others alone, and adds casts of the weights. A smaller batch would halve
 * them all, inputs included.
 */
export function autocastText(facts: ComparisonFacts): string | undefined {
  if (!hasSameModel(facts)) return undefined;
  const whole = bytesOf(ofClass(facts, 'activations'));
  const matched = matchedOf(facts, 'activations');
  const down = bytesOf(matched.filter((site) => hasHalvedSizes(site, site.sizesB, site.sizesA)));
  const up = bytesOf(matched.filter((site) => hasHalvedSizes(site, site.sizesA, site.sizesB)));
  const isDown = down >= up;
  const bytes = Math.max(down, up);
  const inputs = matchedOf(facts, 'inputs');
  const isOtherBatch = inputs.length > 0 && isNear(medianRatio(inputs), isDown ? 0.5 : 2);
  if (bytes === 0 || bytes < 0.35 * whole || isOtherBatch) return undefined;
  const [half, full] = isDown ? ['B', 'A'] : ['A', 'B'];
  return `${formatPercent(bytes / whole, 0)} of the activations have sizes in ${half} that are half of those in ${full}, while parameters and inputs are the same: ${half} computes in 16 bits (autocast)`;
}

/** Half of the other side's sizes appear here at half the size, and are gone at their own. */
function hasHalvedSizes(
  site: CallSiteChange,
  small: readonly SizeCount[],
  large: readonly SizeCount[],
): boolean {
  const own = new Set(small.map(({ bytes }) => bytes));
  const before = large.filter(({ bytes }) => bytes >= 2 ** 10);
  const bytesIn = (sizes: readonly SizeCount[]) =>
    sumBy(sizes, ({ bytes, count }) => bytes * count);
  const total = bytesIn(before);
  const halved = bytesIn(before.filter(({ bytes }) => own.has(bytes / 2)));
  return total > 0 && halved >= 0.5 * total && !isNear(ratioOf(site), 1);
}

/** More parameters and more activations, in sizes that already existed: more layers. */
export function layersText(facts: ComparisonFacts): string | undefined {
  const countIn = (sites: readonly CallSiteChange[], side: 'countA' | 'countB') =>
    sumBy(sites, (site) => site[side]);
  const parameters = matchedOf(facts, 'parameters');
  const copied = parameters.filter(({ kind }) => kind === 'more' || kind === 'fewer');
  const more = countIn(copied, 'countB') > countIn(copied, 'countA') ? 'more' : 'fewer';
  const fitting = copied.filter(({ kind }) => kind === more);
  if (fitting.length === 0 || hasSameModel(facts)) return undefined;
  const activations = matchedOf(facts, 'activations').filter(({ kind }) => kind === more);
  const lines =
    activations.length === 0
      ? ''
      : `, and activations at the same ${plural(lineCount(activations), 'line')} have ${more} copies`;
  // A line in a layer keeps at least one tensor per layer.
  const layers = lowest(activations.map(({ countA, countB }) => Math.abs(countB - countA)));
  const has =
    activations.length === 0
      ? `${more} layers`
      : `${layers === 1 ? 'one layer' : `${layers} layers`} ${more}`;
  return `${countIn(fitting, 'countB')} parameters instead of ${countIn(fitting, 'countA')} at ${changedLines(fitting.slice(0, 1))}, of sizes that were there before${lines}: the model of B has ${has}`;
}

/** Another model: what it keeps per parameter grows with it. */
export function modelText(facts: ComparisonFacts): string | undefined {
  const [own, state] = (['parameters', 'optimizer-state'] as const).map((kind) =>
    facts.entries.find((entry) => entry.kind === kind),
  );
  const ratio = own === undefined ? 1 : own.bytesB / own.bytesA;
  // State that shrinks while parameters grow has only moved to another class.
  const isTogether = (own?.differenceBytes ?? 0) * (state?.differenceBytes ?? 0) >= 0;
  if (ratio === 0 || ratio === Number.POSITIVE_INFINITY || isNear(ratio, 1) || !isTogether)
    return undefined;
  return `the parameters of B are ${timesText(ratio)} as those of A`;
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

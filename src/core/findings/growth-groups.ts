/** Which growing sites belong together: the many tensors of one kept autograd graph are one leak. */
import type { AllocationIndex } from '../replay/types.ts';
import { EMPTY_STACK } from '../snapshot/tables.ts';
import type { AnalysisContext } from './analysis-context.ts';
import type { GrowingSite } from './growing-sites.ts';

export type GrowthKind =
  | 'kept-graph'
  | 'kept-hook'
  | 'kept-scalar'
  | 'kept-output'
  | 'kept-gradients'
  | 'kept-optimizer'
  | 'kept-tensor';

export interface GrowthGroup {
  readonly kind: GrowthKind;
  /** The largest first. */
  readonly sites: readonly GrowingSite[];
  /** What holds the others, as far as the order of allocation tells: its stack is the finding's. */
  readonly holder: GrowingSite;
}

/** A graph keeps at least an activation, what backward needs of it, an output and a loss. */
const GRAPH_SITES = 4;
/** Tensors of a few numbers: losses, norms, accuracies. */
export const SCALAR_BYTES = 64;

export function groupSites(study: AnalysisContext, sites: readonly GrowingSite[]): GrowthGroup[] {
  const groups: GrowthGroup[] = [];
  for (const cluster of clusters(sites)) {
    const { traits } = study;
    const hooks = cluster.filter(({ stack }) => traits.isHook(stack));
    const rest = cluster.filter(({ stack }) => !traits.isHook(stack));
    const forward = rest.filter(
      ({ stack }) => !traits.isBackward(stack) && !traits.isOptimizer(stack),
    );
    const isGraph =
      forward.length >= GRAPH_SITES && forward.some(({ stack }) => traits.isForward(stack));
    if (isGraph) {
      const { graph, apart } = splitGraph(study, rest);
      groups.push({ kind: 'kept-graph', sites: graph, holder: lastBorn(graph, study) });
      groups.push(...singles(study, [...apart, ...hooks]));
    } else {
      groups.push(...singles(study, cluster));
    }
  }
  return groups;
}

/** Sites that keep something in (nearly) the same steps. */
function clusters(sites: readonly GrowingSite[]): GrowingSite[][] {
  const found: GrowingSite[][] = [];
  for (const site of [...sites].sort((a, b) => sum(b.keptBytes) - sum(a.keptBytes))) {
    const home = found.find(([leader]) => overlap(leader, site) >= 0.8);
    if (home === undefined) found.push([site]);
    else home.push(site);
  }
  return found;
}

/** Steps in both, of the steps in either; the first and last may differ. */
function overlap(a: GrowingSite, b: GrowingSite): number {
  let both = 0;
  let either = 0;
  for (let i = 0; i < a.keptCount.length - 1; i++) {
    const inA = a.keptCount[i] > 0 && i >= a.firstStep;
    const inB = b.keptCount[i] > 0 && i >= b.firstStep;
    if (inA && inB) both++;
    if (inA || inB) either++;
  }
  return both / either;
}

/**
 * What is allocated after backward has run is no part of the graph that the step made, but a scalar
 * there may well hold it: `total = total + loss`.
 */
function splitGraph(
  study: AnalysisContext,
  sites: readonly GrowingSite[],
): { graph: GrowingSite[]; apart: GrowingSite[] } {
  const { traits } = study;
  const { stack } = study.input.replay.allocations;
  const lastForward = Math.max(
    ...sites.filter((site) => traits.isForward(site.stack)).map((site) => bornInStep(site)),
  );
  const graph: GrowingSite[] = [];
  const apart: GrowingSite[] = [];
  for (const site of sites) {
    const born = bornInStep(site);
    let ranBackward = false;
    for (let id = lastForward; id < born; id++)
      if (traits.isBackward(stack[id])) ranBackward = true;
    const isApart =
      traits.isOptimizer(site.stack) ||
      (ranBackward && !traits.isBackward(site.stack) && !isScalar(study, site));
    (isApart ? apart : graph).push(site);
  }
  return { graph, apart };
}

/** Last tensor of a middle step: the same step for all sites of a cluster, and no unusual one. */
function bornInStep({ keptCount, kept, firstStep }: GrowingSite): AllocationIndex {
  const middle = (firstStep + keptCount.length) >> 1;
  let before = 0;
  for (let i = 0; i <= middle; i++) before += keptCount[i];
  return kept[Math.max(0, before - 1)];
}

function lastBorn(sites: readonly GrowingSite[], { traits }: AnalysisContext): GrowingSite {
  const named = sites.filter(({ stack }) => traits.hasPython(stack) && !traits.isBackward(stack));
  return (named.length > 0 ? named : sites).reduce((a, b) =>
    bornInStep(b) > bornInStep(a) ? b : a,
  );
}

/** One group a site; but one for all that backward threads keep, and one for a line. */
function singles(study: AnalysisContext, sites: readonly GrowingSite[]): GrowthGroup[] {
  const byPlace = new Map<string, GrowingSite[]>();
  for (const site of sites) {
    const frame = study.input.stacks.topUserFrame(site.stack);
    const isBackward = study.traits.isBackward(site.stack);
    const key = isBackward ? 'backward' : `${frame ?? `site ${site.site}`}`;
    const same = byPlace.get(key) ?? [];
    same.push(site);
    byPlace.set(key, same);
  }
  return [...byPlace.values()].map((same) => ({
    kind: kindOf(study, same[0]),
    sites: same,
    holder: same[0],
  }));
}

function kindOf(study: AnalysisContext, site: GrowingSite): GrowthKind {
  const { traits } = study;
  if (traits.isHook(site.stack)) return 'kept-hook';
  if (site.stack <= EMPTY_STACK || traits.isBackward(site.stack)) return 'kept-gradients';
  if (traits.isOptimizer(site.stack)) return 'kept-optimizer';
  if (isScalar(study, site)) return 'kept-scalar';
  return traits.isForward(site.stack) ? 'kept-output' : 'kept-tensor';
}

function isScalar(study: AnalysisContext, { kept }: GrowingSite): boolean {
  const { requestedBytes } = study.input.replay.allocations;
  return kept.every((id) => requestedBytes[id] <= SCALAR_BYTES);
}

const sum = (column: Float64Array): number => column.reduce((total, bytes) => total + bytes, 0);

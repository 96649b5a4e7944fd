/**
 * Queries of comparisons. Each file has a session of its own: either gives its side, and one of the two is
 * handed both and compares them, so that no work is left to the page.
 */

import type {
  DifferenceFlame,
  DifferenceFlameOptions,
} from '../../analysis/compare/difference-flame.ts';
import type { Moment, RunProfile } from '../../analysis/compare/run-profile.ts';
import type { Comparison } from '../../analysis/compare/types.ts';
import type { FlameGraph } from '../../device/flame-graph/types.ts';
import type { FileInfo } from '../../format/snapshot/tables.ts';
import type { Query, QueryHandlers } from '../queries.ts';

export interface SideRequest {
  readonly file: FileInfo;
  readonly at: Moment;
}

export interface ComparisonRequest {
  /** Another text for another pair of sides: later queries name the pair by it. */
  readonly pair: string;
  readonly a: RunProfile;
  readonly b: RunProfile;
}

export interface DifferenceFlameRequest extends DifferenceFlameOptions {
  readonly pair: string;
}

/** The sides are with the page already. */
export type PageComparison = Omit<Comparison, 'a' | 'b'>;

export interface CompareQueries {
  readonly comparisonSide: Query<SideRequest, RunProfile>;
  readonly comparison: Query<ComparisonRequest, PageComparison>;
  /** Undefined where this pair has not been compared, or another one since. */
  readonly differenceFlame: Query<DifferenceFlameRequest, FlameGraph | undefined>;
}

/** What only comparisons need: fetched with the first of them. */
const loadCompare = () => import('../../analysis/compare/compare.ts');
const loadFlame = () => import('../../analysis/compare/difference-flame.ts');
const loadProfile = () => import('../../analysis/compare/build-profile.ts');

export const compareHandlers: QueryHandlers<CompareQueries> = {
  async comparisonSide(device, { deviceIndex, file, at }) {
    const { buildProfile } = await loadProfile();
    return buildProfile(device.context, { file, deviceIndex, at });
  },

  async comparison(device, { pair, a, b }) {
    const [{ compareSides }, { DifferenceFlame }] = await Promise.all([loadCompare(), loadFlame()]);
    device.once(compareCache).last = { pair, flame: new DifferenceFlame(a, b) };
    const { a: _, b: __, ...comparison } = compareSides(a, b);
    return comparison;
  },

  differenceFlame(device, { pair, ...options }) {
    const { last } = device.once(compareCache);
    return last?.pair === pair ? last.flame.graph(options) : undefined;
  },
};

interface CompareCache {
  last?: { readonly pair: string; readonly flame: DifferenceFlame };
}

const compareCache = (): CompareCache => ({});

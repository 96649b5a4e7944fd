/**
 * Queries of comparisons. Each file has its own session. Either provides its side; one of them receives both and
 * compares them, so the page has no work to do.
 */

import type {
  DifferenceFlame,
  DifferenceFlameOptions,
} from '../../analysis/compare/difference-flame.ts';
import type { Comparison, Moment } from '../../analysis/compare/types.ts';
import type { FileInfo } from '../../format/snapshot/tables.ts';
import { type DeviceRequest, queryHandlers } from '../queries.ts';

export interface SideRequest extends DeviceRequest {
  readonly file: FileInfo;
  readonly at: Moment;
}

export interface Pair {
  /** Unique to a pair of sides; later queries refer to the pair by it. */
  readonly pair: string;
}

/** The page already has the sides. */
export type PageComparison = Omit<Comparison, 'a' | 'b'>;

/** Loaded with the first comparison. */
const loadCompare = () => import('../../analysis/compare/compare.ts');
const loadFlame = () => import('../../analysis/compare/difference-flame.ts');
const loadProfile = () => import('../../analysis/compare/build-profile.ts');

export const compareHandlers = queryHandlers({
  async comparisonSide(device, { deviceIndex, file, at }: SideRequest) {
    const { buildProfile } = await loadProfile();
    return buildProfile(device.context, { file, deviceIndex, at });
  },

  async comparison(
    device,
    { pair, a, b }: Pair & Pick<Comparison, 'a' | 'b'>,
  ): Promise<PageComparison> {
    const [{ compareSides }, { DifferenceFlame }] = await Promise.all([loadCompare(), loadFlame()]);
    device.once(compareCache).last = { pair, flame: new DifferenceFlame(a, b) };
    const { a: _, b: __, ...comparison } = compareSides(a, b);
    return comparison;
  },

  /** Undefined if this pair was not compared, or another one was compared since. */
  differenceFlame(device, { pair, ...options }: Pair & DifferenceFlameOptions) {
    const { last } = device.once(compareCache);
    return last?.pair === pair ? last.flame.graph(options) : undefined;
  },
});

interface CompareCache {
  last?: { readonly pair: string; readonly flame: DifferenceFlame };
}

const compareCache = (): CompareCache => ({});

/** What only comparisons need: one chunk, fetched with the first of them. */
export { compareSides } from '../../analysis/compare/compare.ts';
export { DifferenceFlame } from '../../analysis/compare/difference-flame.ts';
export { SideMaker } from '../../analysis/compare/make-side.ts';

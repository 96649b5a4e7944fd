/** What only comparisons need: one chunk, fetched with the first of them. */
export { compareSides } from '../../core/compare/compare.ts';
export { DifferenceFlame } from '../../core/compare/difference-flame.ts';
export { SideMaker } from '../../core/compare/make-side.ts';

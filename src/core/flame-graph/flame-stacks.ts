/** A flame graph as what it was put together from: stacks of boxes, each with its own weight. */
import { absenceText } from '../device/absence-text.ts';
import type { Flame } from './flame-context.ts';
import type { FlameGroup, NoFrame } from './types.ts';

export interface FlameStack {
  /** Outermost first; never empty. */
  readonly groups: readonly FlameGroup[];
  readonly value: number;
}

/** Those that weigh anything, the heaviest first; their values add up to the total. */
export function* flameStacks({ weighed, groups }: Flame): Generator<FlameStack> {
  const { tree, self } = weighed;
  const rows: number[] = [];
  for (let row = 1; row < tree.length; row++) if (self.value[row] !== 0) rows.push(row);
  rows.sort((a, b) => self.magnitude[b] - self.magnitude[a]);
  for (const row of rows) {
    const path: FlameGroup[] = [];
    for (let at = row; at > 0; at = tree.parent[at]) path.push(groups.describe(tree.group[at]));
    yield { groups: path.reverse(), value: self.value[row] };
  }
}

/** What a box is called that has no frame. */
export function noFrameText(reason: NoFrame): string {
  return reason === 'none-shown' ? 'only frames that are not shown' : absenceText(reason);
}

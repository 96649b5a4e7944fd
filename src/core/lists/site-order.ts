import type { DeviceContext } from '../device/device-context.ts';
import type { FrameIndex, StackIndex } from '../snapshot/tables.ts';

/**
 * By stack + 1: the place of the stack's line (its innermost user frame) among those of all given
 * stacks, by file, line and function; NaN for stacks without a line.
 */
export function callSiteOrder(
  { snapshot, stacks }: DeviceContext,
  column: ArrayLike<StackIndex>,
): Float64Array {
  const order = new Float64Array(snapshot.stacks.length + 1).fill(Number.NaN);
  const isSeen = new Uint8Array(order.length);
  const byFrame = new Map<FrameIndex, StackIndex[]>();
  for (let i = 0; i < column.length; i++) {
    const stack = column[i];
    if (isSeen[stack + 1] === 1) continue;
    isSeen[stack + 1] = 1;
    const frame = stacks.topUserFrame(stack);
    if (frame === undefined) continue;
    const same = byFrame.get(frame);
    if (same === undefined) byFrame.set(frame, [stack]);
    else same.push(stack);
  }
  const lines = [...byFrame].map(([frame, same]) => ({ ...stacks.frame(frame), same }));
  lines.sort(
    (a, b) => compareText(a.filename, b.filename) || a.line - b.line || compareText(a.name, b.name),
  );
  lines.forEach(({ same }, place) => {
    for (const stack of same) order[stack + 1] = place;
  });
  return order;
}

/** The same in every locale. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

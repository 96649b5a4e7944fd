import type { DeviceContext } from '../device/device-context.ts';
import { allocationLabel } from '../device/labels.ts';
import { siteTerm } from '../search/write-terms.ts';
import type { StackIndex } from '../snapshot/tables.ts';

/** What is to be said of some allocations. */
export interface ColorLabel {
  readonly label: string;
  /** A sentence more; '' where the label says it all. */
  readonly about: string;
  /** The search that finds them; undefined where none does. */
  readonly term: string | undefined;
}

/**
 * A call site in words: the user's own line of a stack that was recorded, or that line
 * and the innermost function that it led to: 'forward · model.py:12', 'model.py:12 → linear:125'.
 */
export function siteLabel(
  { replay, snapshot, stacks }: DeviceContext,
  stack: StackIndex,
): ColorLabel {
  const { allocations } = replay;
  const frame = stacks.topUserFrame(stack) ?? snapshot.stacks.frame[stack];
  const { name, filename, line } = stacks.frame(frame);
  const file = filename.split(/[\\/]/).at(-1) ?? filename;
  const place = (path: string) => (line === 0 ? path : `${path}:${line}`);
  const inner = stacks.innermostFrameView(stack);
  const isSame = inner === undefined || (inner.name === name && inner.filename === filename);
  const via = isSame ? '' : ` → ${inner.name}${inner.line === 0 ? '' : `:${inner.line}`}`;
  const where = isSame ? `${name} · ${place(file)}` : `${place(file)}${via}`;
  const first = allocations.stack.indexOf(stack);
  return {
    label: where,
    about: `${name} in ${place(filename)}`,
    term: first < 0 ? undefined : siteTerm(allocationLabel(allocations, snapshot.addresses, first)),
  };
}

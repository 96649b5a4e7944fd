import { absenceText } from '../../core/device/stacks.ts';
import type { CallSiteLine } from '../../core/lists/allocation-list-types.ts';
import { frameText, fullPlace, placeText } from '../shared/stack-text.ts';

/** The user's own line and the function it led to, 'mlp model.py:52 → gelu'; or why there is none. */
export function SiteCell({ line }: { readonly line: CallSiteLine }) {
  const { stackKind, topFrame, innerFrame } = line;
  if (topFrame === undefined) return <span className="dim">{absenceText(stackKind)}</span>;
  const via = innerFrame === undefined ? '' : `\n→ ${frameText(innerFrame)}`;
  return (
    <span title={`${frameText(topFrame)}\n${fullPlace(topFrame)}${via}`}>
      {topFrame.name} <span className="dim">{placeText(topFrame)}</span>
      {innerFrame !== undefined && ` → ${innerFrame.name}`}
    </span>
  );
}

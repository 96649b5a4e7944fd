import { absenceText } from '../../core/query/absence-text.ts';
import type { SiteLine } from '../../core/query/allocation-rows/types.ts';
import { frameText, fullPlace, placeText } from '../details/stack-text.ts';

/** The user's own line and the function it led to, 'mlp model.py:52 → gelu'; or why there is none. */
export function SiteCell({ line }: { readonly line: SiteLine }) {
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

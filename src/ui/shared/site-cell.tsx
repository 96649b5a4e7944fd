import type { CallSiteLine } from '../../device/lists/allocation-list-types.ts';
import { framePath, functionText, leafPlace, leafText } from '../../device/model/frame-text.ts';
import { absenceText } from '../../device/model/stacks.ts';
import { FrameCell } from './frame-cell.tsx';
import { frameTitle } from './stack-text.ts';

/** The user's own line and the operation that it led to, 'mlp model.py:52 · gelu in functional.py:16'; or why there is none. */
export function SiteCell({ stackKind, topFrame, leafFrame }: CallSiteLine) {
  if (topFrame === undefined) return <span className="dim">{absenceText(stackKind)}</span>;
  const title = frameTitle(topFrame);
  return (
    <FrameCell
      name={functionText(topFrame)}
      path={framePath(topFrame)}
      title={leafFrame === undefined ? title : `${title}\n· ${leafText(leafFrame)}`}
      leaf={leafFrame && functionText(leafFrame)}
      leafPlace={leafFrame && leafPlace(leafFrame)}
    />
  );
}

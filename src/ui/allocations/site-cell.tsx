import type { FrameView, StackKind } from '../../core/query/types.ts';
import { absenceText, frameText, fullPlace, placeText } from '../details/stack-text.ts';

interface SiteCellProps {
  readonly frame: FrameView | undefined;
  readonly kind: StackKind;
}

/** The user's own line, or why there is none. */
export function SiteCell({ frame, kind }: SiteCellProps) {
  if (frame === undefined) return <span className="dim">{absenceText(kind)}</span>;
  return (
    <span title={`${frameText(frame)}\n${fullPlace(frame)}`}>
      {frame.name} <span className="dim">{placeText(frame)}</span>
    </span>
  );
}

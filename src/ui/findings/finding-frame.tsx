import { absenceText } from '../../core/device/stacks.ts';
import type { FrameView, StackKind } from '../../core/device/types.ts';
import { CopyButton } from '../shared/copy-button.tsx';
import { fullPlace, placeText } from '../shared/stack-text.ts';

interface FindingFrameProps {
  readonly frame: FrameView | undefined;
  /** Why there is no frame. */
  readonly stackKind: StackKind;
}

/** The line to look at first: function and place, ready to be copied. */
export function FindingFrame({ frame, stackKind }: FindingFrameProps) {
  if (frame === undefined) {
    return <p className="finding-frame dim">No line: {absenceText(stackKind)}</p>;
  }
  const place = fullPlace(frame);
  return (
    <div className="finding-frame">
      <span className="mono" title={frame.name}>
        {frame.name}
      </span>
      <CopyButton text={place} label={place} className="frame-place">
        <span>{placeText(frame)}</span>
      </CopyButton>
    </div>
  );
}

import { framePath, fullPlace } from '../../device/model/frame-text.ts';
import type { FrameView } from '../../device/model/types.ts';
import { CopyButton } from './copy-button.tsx';

/** Where a frame is, ready to be copied as a whole path; of C++ without a known file, its whole name. */
export function FramePlace({ frame }: { readonly frame: FrameView }) {
  const path = framePath(frame);
  const whole = fullPlace(frame);
  return (
    <CopyButton
      text={whole}
      label={path === undefined ? 'the whole C++ name' : whole}
      className="frame-place"
    >
      <span>{path ?? 'C++'}</span>
    </CopyButton>
  );
}

import { frameLabel } from '../../core/device/frame-text.ts';
import type { FrameView } from '../../core/device/types.ts';
import type { RankedFinding } from '../../core/findings/ranked-findings.ts';
import { frameTitle } from '../shared/stack-text.ts';

/** The user's lines from the innermost out to their loop. */
export function UserLines({
  finding: { holderFrame, userLines },
}: {
  readonly finding: Pick<RankedFinding, 'holderFrame' | 'userLines'>;
}) {
  // Where another line leads, this says who asked.
  if (userLines.length < 2 && holderFrame === undefined) return null;
  return (
    <p className="finding-lines dim">
      {holderFrame !== undefined && 'Requested by '}
      {userLines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a recursion has a line twice; none moves
        <span key={index} title={`${index === 0 ? '' : 'Called from '}${frameTitle(line)}`}>
          {index === 0 ? '' : ' ← '}
          {callerLabel(line, userLines[index - 1])}
        </span>
      ))}
    </p>
  );
}

/** ':55 (forward)' in the file of the line that it calls, else 'train.py:55 (forward)'. */
function callerLabel(line: FrameView, callee: FrameView | undefined): string {
  const label = frameLabel(line);
  return line.line > 0 && line.filename === callee?.filename
    ? label.slice(label.lastIndexOf(':'))
    : label;
}

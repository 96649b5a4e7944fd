import { frameLabel } from '../../core/device/frame-text.ts';
import type { RankedFinding } from '../../core/findings/ranked-findings.ts';
import type { LineRole } from '../../core/findings/types.ts';
import { frameTitle } from '../shared/stack-text.ts';

const ROLE_LABELS: Readonly<Record<LineRole, string>> = {
  'made at': 'Made here.',
  'stored at': 'Stored here.',
  'started at': 'Started here.',
};

/** What the finding's line is to the memory, and the user's lines from the innermost out to their loop. */
export function UserLines({
  finding: { frameIs, userLines },
}: {
  readonly finding: Pick<RankedFinding, 'frameIs' | 'userLines'>;
}) {
  if (frameIs === undefined && userLines.length < 2) return null;
  return (
    <p className="finding-lines dim">
      {frameIs === undefined ? '' : `${ROLE_LABELS[frameIs]} `}
      {userLines.length > 1 &&
        userLines.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a recursion has a line twice; none moves
          <span key={index} title={frameTitle(line)}>
            {index === 0 ? '' : ', called from '}
            {frameLabel(line)}
          </span>
        ))}
    </p>
  );
}

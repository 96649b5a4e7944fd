import {
  type Account,
  type EntryKind,
  type EntryRate,
  entryLabel,
} from '../../../analysis/account/types.ts';
import { formatBytes, formatPercent, plural } from '../../../base/format.ts';
import { frameLabel } from '../../../device/model/frame-text.ts';
import { Bytes, CodeText } from '../../shared/facts.tsx';
import { useTheme } from '../../theme/use-theme.ts';
import { type AccountPart, isCohort, isFree, partColor } from './account-parts.ts';
import { usePartFilter } from './use-account.ts';

interface AccountRowProps {
  readonly part: AccountPart;
  /** A sentence with both figures, if the legend's differs. */
  readonly note: string | undefined;
  readonly event: number;
  readonly whole: number;
  readonly isPointed: boolean;
  readonly onPoint: (name: string | undefined) => void;
}

/** What it is, its line, its growth and its size; clicking it filters the views. */
export function AccountRow({ part, note, event, whole, isPointed, onPoint }: AccountRowProps) {
  const theme = useTheme();
  const { isOn, toggle } = usePartFilter(part, event);
  const { kind, bytes, lines, holder, rate, isGrowing } = part;
  const [line] = isCohort(kind) ? lines : [];
  return (
    <li>
      <button
        type="button"
        className="account-row"
        aria-pressed={isFree(kind) ? undefined : isOn}
        data-pointed={isPointed || undefined}
        title={titleOf(part, isOn)}
        onClick={toggle}
        onPointerEnter={() => onPoint(part.name)}
        onPointerLeave={() => onPoint(undefined)}
        onFocus={() => onPoint(part.name)}
        onBlur={() => onPoint(undefined)}
      >
        <span
          className="account-swatch"
          data-kind={kind}
          style={{ color: partColor(theme, kind) }}
          aria-hidden
        />
        <span className="account-label">{entryLabel(kind)}</span>
        <span className="account-bytes">
          <Bytes as="strong" bytes={bytes} />{' '}
          <span className="dim small">{formatPercent(bytes / whole)}</span>
        </span>
        {line !== undefined && <span className="account-line mono small">{frameLabel(line)}</span>}
        {holder !== undefined && isCohort(kind) && (
          <span className="account-line small">
            held by <CodeText text={holder} />
          </span>
        )}
        {rate !== undefined && isGrowing && (
          <span className="account-line account-rate small">{rateText(rate)}</span>
        )}
        {note !== undefined && <span className="account-line dim small">{note}</span>}
      </button>
    </li>
  );
}

/** '+392.16 MiB an iteration in estimate_loss, 6 times' */
function rateText({ bytes, unit, steps }: EntryRate): string {
  const article = /^[aeiou]/.test(unit) ? 'an' : 'a';
  return `+${formatBytes(bytes)} ${article} ${unit}, ${plural(steps, 'time')}`;
}

function titleOf({ kind, count, lines }: AccountPart, isOn: boolean): string {
  const pieces = isFree(kind) ? plural(count, 'free range') : plural(count, 'block');
  const does = isFree(kind)
    ? `Show them in the ${kind === 'gaps' ? 'address map' : 'state of the allocator'}`
    : isOn
      ? 'Clear filter'
      : 'Filter to these';
  const callers = lines.map((line, i) => `${i === 0 ? '' : '← '}${frameLabel(line)}`);
  const where = isCohort(kind) ? callers : [];
  return [`${ABOUT[kind] ?? entryLabel(kind)}: ${pieces}`, ...where, does].join('\n');
}

const ABOUT: Partial<Record<EntryKind, string>> = {
  kept: 'Tensors made in a step that are still live several steps later',
  'kept-graph': 'Activations that autograd holds on to after the step that made them',
  growing: 'A tensor that is replaced by a larger one again and again',
  gaps: 'Free memory between live blocks, which a larger request does not fit into',
  cached: 'Segments with nothing in them, which PyTorch keeps for reuse',
  workspaces: 'Scratch memory of cuBLAS and cuDNN',
  unknown: 'Allocated before recording began, or without a stack that says what it is',
};

interface AccountBarProps {
  readonly account: Account;
  readonly parts: readonly AccountPart[];
  /** Name of the part hovered, here or in its row. */
  readonly pointed: string | undefined;
  readonly onPoint: (name: string | undefined) => void;
}

/** All parts to scale, then the failed request; a stroke marks the limit. The rows below say the same in words. */
export function AccountBar({ account, parts, pointed, onPoint }: AccountBarProps) {
  const { reservedBytes, limitBytes = 0, requestedBytes = 0, moment } = account;
  const whole = Math.max(reservedBytes + requestedBytes, limitBytes);
  const share = (bytes: number) => `${(100 * bytes) / whole}%`;
  return (
    <div className="account-bar" aria-hidden data-testid="account-bar">
      {parts.map((part) => (
        <BarPart
          key={part.name}
          part={part}
          event={moment.event}
          width={share(part.bytes)}
          isPointed={part.name === pointed}
          onPoint={onPoint}
        />
      ))}
      {requestedBytes > 0 && (
        <span
          className="account-request"
          title={`Requested: ${formatBytes(requestedBytes)}`}
          style={{ width: share(requestedBytes) }}
        />
      )}
      {limitBytes > 0 && (
        <span
          className="account-limit"
          title={`Limit: about ${formatBytes(limitBytes)}`}
          style={{ left: share(limitBytes) }}
        />
      )}
    </div>
  );
}

interface BarPartProps extends Pick<AccountBarProps, 'onPoint'> {
  readonly part: AccountPart;
  readonly event: number;
  readonly width: string;
  readonly isPointed: boolean;
}

/** Needs no keyboard access: its row has it. */
function BarPart({ part, event, width, isPointed, onPoint }: BarPartProps) {
  const theme = useTheme();
  const { toggle } = usePartFilter(part, event);
  return (
    <button
      type="button"
      tabIndex={-1}
      data-kind={part.kind}
      data-pointed={isPointed || undefined}
      title={`${entryLabel(part.kind)}: ${formatBytes(part.bytes)}`}
      style={{ width, color: partColor(theme, part.kind) }}
      onClick={toggle}
      onPointerEnter={() => onPoint(part.name)}
      onPointerLeave={() => onPoint(undefined)}
    />
  );
}

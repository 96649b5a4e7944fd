import { type Account, entryLabel } from '../../../analysis/account/types.ts';
import { formatBytes } from '../../../base/format.ts';
import { useTheme } from '../../theme/use-theme.ts';
import { type AccountPart, partColor } from './account-parts.ts';
import { usePartFilter } from './use-account.ts';

interface AccountBarProps {
  readonly account: Account;
  readonly parts: readonly AccountPart[];
  /** Name of the part that is pointed at, here or in its row. */
  readonly pointed: string | undefined;
  readonly onPoint: (name: string | undefined) => void;
}

/** All parts to scale, then the request that failed; a stroke is the limit. The rows below say the same in words. */
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

/** The row is what the keyboard reaches. */
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

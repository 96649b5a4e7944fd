import './account.css';
import { useState } from 'react';
import type { Account, MomentWhy } from '../../../analysis/account/types.ts';
import type { Cause } from '../../../analysis/verdict/types.ts';
import type { Judgement } from '../../../analysis/verdict/verdict.ts';
import { formatBytes, formatCount, plural, sentenceCase } from '../../../base/format.ts';
import { useStores } from '../../../state/stores.ts';
import { Segmented } from '../../shared/buttons.tsx';
import { Bytes } from '../../shared/facts.tsx';
import { useDevice } from '../../shared/services.ts';
import { type AccountPart, classNote, partsOf } from './account-parts.ts';
import { AccountBar, AccountRow } from './account-row.tsx';
import { useAccountAtCursor } from './use-account.ts';

const MOMENTS: Readonly<Record<MomentWhy, string>> = {
  oom: 'At the OOM',
  peak: 'At the peak',
  end: 'At the end',
  cursor: 'At the cursor',
};

type Shown = 'main' | 'end' | 'cursor';

/** Every reserved byte at one moment: a bar of the whole, and a row for each part. */
export function AccountPanel({ judgement }: { readonly judgement: Judgement }) {
  const { account, accountAtEnd, verdict } = judgement;
  const [shown, setShown] = useState<Shown>('main');
  const { view } = useStores();
  const { device } = useDevice();
  const atCursor = useAccountAtCursor(judgement, shown === 'cursor');
  const isSame = account.moment.event === accountAtEnd.moment.event;
  const current = { main: account, end: accountAtEnd, cursor: atCursor }[shown];
  if (account.reservedBytes === 0 && accountAtEnd.reservedBytes === 0) return undefined;
  const options: Shown[] = [
    'main',
    ...(isSame ? [] : (['end'] as const)),
    ...(device.events > 0 ? (['cursor'] as const) : []),
  ];
  const labelOf = (name: Shown) => MOMENTS[name === 'main' ? account.moment.why : name];
  const event = current?.moment.event ?? -1;
  return (
    <section className="account" aria-label="Where the memory is" aria-busy={current === undefined}>
      <h3 className="findings-heading">Where the memory is</h3>
      <div className="account-moment">
        {options.length === 1 ? (
          <span>{labelOf('main')}</span>
        ) : (
          <Segmented<Shown>
            label="Moment"
            value={shown}
            options={options.map((value) => ({ value, label: labelOf(value) }))}
            onChange={setShown}
          />
        )}
        {event >= 0 && (
          <button
            type="button"
            className="link"
            title="Put the cursor at this event"
            onClick={() => view.commit({ cursor: event })}
          >
            event {formatCount(event)}
          </button>
        )}
      </div>
      {current !== undefined && <AccountTotals account={current} />}
      {current !== undefined && current.reservedBytes > 0 && (
        // The key resets hover and folding when the moment changes.
        <AccountParts
          key={shown}
          account={current}
          parts={partsOf(
            current,
            shown === 'main' || (shown === 'end' && isSame) ? '' : `@${shown}`,
          )}
          cause={verdict.cause}
        />
      )}
    </section>
  );
}

/** '8.73 GiB reserved. 4.39 GiB more was requested; the limit is about 11.47 GiB.' */
function AccountTotals({
  account: { reservedBytes, limitBytes, requestedBytes },
}: {
  readonly account: Account;
}) {
  const limit = limitBytes === undefined ? '' : `the limit is about ${formatBytes(limitBytes)}`;
  const request =
    requestedBytes === undefined ? '' : `${formatBytes(requestedBytes)} more was requested`;
  const rest = [request, limit].filter((text) => text !== '').join('; ');
  return (
    <p className="account-totals">
      <Bytes as="strong" bytes={reservedBytes} /> reserved.
      {rest !== '' && <span className="dim"> {sentenceCase(rest)}.</span>}
    </p>
  );
}

/** Parts below this share are grouped into one row. */
const SMALL_SHARE = 0.01;
const FEW = 2;

interface AccountPartsProps {
  readonly account: Account;
  readonly parts: readonly AccountPart[];
  /** The verdict's part always has its own row, however small. */
  readonly cause: Cause;
}

function AccountParts({ account, parts, cause }: AccountPartsProps) {
  const [pointed, setPointed] = useState<string>();
  const { reservedBytes, moment } = account;
  const isSmall = ({ kind, bytes, isFirst }: AccountPart) =>
    bytes < SMALL_SHARE * reservedBytes && !(kind === cause && isFirst);
  const small = parts.filter(isSmall);
  const isFolding = small.length >= FEW;
  const row = (part: AccountPart) => (
    <AccountRow
      key={part.name}
      part={part}
      note={classNote(part, parts)}
      event={moment.event}
      whole={reservedBytes}
      isPointed={part.name === pointed}
      onPoint={setPointed}
    />
  );
  return (
    <>
      <AccountBar account={account} parts={parts} pointed={pointed} onPoint={setPointed} />
      <ul className="account-rows" aria-label="Parts of the reserved memory">
        {parts.filter((part) => !isFolding || !isSmall(part)).map(row)}
        {isFolding && (
          <li>
            <details className="account-small">
              <summary>
                <span>{plural(small.length, 'smaller entry', 'smaller entries')}</span>
                <Bytes as="strong" bytes={small.reduce((sum, { bytes }) => sum + bytes, 0)} />
              </summary>
              <ul>{small.map(row)}</ul>
            </details>
          </li>
        )}
      </ul>
    </>
  );
}

import { type ComponentProps, useState } from 'react';
import {
  type Account,
  type AccountCard,
  burstsText,
  type EntryKind,
  type EntryRate,
  entryLabel,
  isFree,
  type MomentWhy,
} from '../../../analysis/account/types.ts';
import type { Cause } from '../../../analysis/verdict/types.ts';
import type { Judgement } from '../../../analysis/verdict/verdict.ts';
import { sumBy } from '../../../base/collections.ts';
import {
  formatBytes,
  formatCount,
  formatDurationUs,
  formatPercent,
  plural,
  sentenceCase,
  withArticle,
} from '../../../base/format.ts';
import { MEMORY_CLASSES } from '../../../device/classes/types.ts';
import { LIMIT_SOURCE } from '../../../device/memory-summary/settings.ts';
import { rowKey, rowLabel, rowNote, sampleText } from '../../../device/model/card.ts';
import { frameLabel } from '../../../device/model/frame-text.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { Button, Segmented } from '../../shared/buttons.tsx';
import { Bytes, CodeText } from '../../shared/facts.tsx';
import { useDevice } from '../../shared/services.ts';
import { cardColor } from '../../theme/palette.ts';
import { useTheme } from '../../theme/use-theme.ts';
import {
  type AccountPart,
  classNote,
  classOf,
  isCohort,
  isPartSearched,
  partColor,
  partsOf,
  useAccountAtCursor,
  useShowPart,
  withoutPart,
} from './account-parts.ts';

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
  const labelOf = (name: Shown) => MOMENTS[name === 'main' ? account.moment.why : name];
  const isOffered = { main: true, end: !isSame, cursor: device.events > 0 };
  const options = (['main', 'end', 'cursor'] as const)
    .filter((name) => isOffered[name])
    .map((value) => ({ value, label: labelOf(value) }));
  const event = current?.moment.event ?? -1;
  return (
    <section className="column" aria-label="Where the memory is" aria-busy={current === undefined}>
      <h2 className="ruled">Where the memory is</h2>
      <div className="row">
        {options.length === 1 ? (
          <span>{labelOf('main')}</span>
        ) : (
          <Segmented<Shown> label="Moment" value={shown} options={options} onChange={setShown} />
        )}
      </div>
      {current !== undefined && (
        <p>
          <Bytes as="strong" bytes={current.reservedBytes} /> reserved
          {event >= 0 && (
            <>
              {' '}
              at{' '}
              <Button
                className="link"
                title="Put the cursor at this event"
                onClick={() => view.commit({ cursor: event })}
              >
                event {formatCount(event)}
              </Button>
            </>
          )}
          .<span className="dim"> {limitText(current, verdict)}</span>
        </p>
      )}
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
      {current?.card !== undefined && <CardRows card={current.card} account={current} />}
    </section>
  );
}

interface CardRowsProps {
  readonly card: AccountCard;
  readonly account: Account;
}

/** The whole card at the same moment, apart from the sum above: what the allocator of this process does not see. */
function CardRows({ card: { sample, ageUs, rows, unknown }, account }: CardRowsProps) {
  const theme = useTheme();
  const shown = rows.filter(({ kind, bytes }) => bytes !== 0 || kind === 'free');
  const isOlder = sample !== undefined && ageUs > 0 && sample.event !== account.moment.event;
  return (
    <>
      <h3 className="ruled">The whole card</h3>
      {sample !== undefined && (
        <p>
          <Bytes as="strong" bytes={sample.totalBytes} />, sampled {sampleText(sample)}
          <span className="dim">{isOlder && ` (${formatDurationUs(ageUs)} before)`}.</span>
        </p>
      )}
      <ul aria-label="Parts of the card">
        {shown.map((row) => (
          <li key={rowKey(row)} className="account-row card-part">
            <span
              className="account-swatch"
              data-kind={`card-${row.kind}`}
              // The strip below the timeline has these colors, if samples were taken.
              style={{ color: sample === undefined ? 'transparent' : cardColor(theme, row.kind) }}
              aria-hidden
            />
            <span>{rowLabel(row)}</span>
            <span className="figure">
              <Bytes as="strong" bytes={row.bytes} />{' '}
              <span className="dim small">
                {sample !== undefined && formatPercent(Math.abs(row.bytes) / sample.totalBytes)}
              </span>
            </span>
            {/* Why rows are not told apart is said below. */}
            {row.kind !== 'outside' && rowNote(row) !== '' && (
              <span className="dim account-line small">{rowNote(row)}</span>
            )}
          </li>
        ))}
      </ul>
      {unknown.map((text) => (
        <p key={text} className="dim small">
          {text}
        </p>
      ))}
    </>
  );
}

/** '4.39 GiB more was requested; the limit is at least 11.47 GiB.' Users may not know that their program set one. */
function limitText({ limitBytes, requestedBytes }: Account, { isCapped }: Judgement['verdict']) {
  const limit = isCapped ? 'the limit set for this process' : 'the limit';
  const parts = [
    requestedBytes === undefined ? [] : `${formatBytes(requestedBytes)} more was requested`,
    limitBytes === undefined
      ? []
      : `${limit} is at least ${formatBytes(limitBytes)} (${LIMIT_SOURCE})`,
  ].flat();
  return parts.length === 0 ? '' : `${sentenceCase(parts.join('; '))}.`;
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

/**
 * A bar to scale: all parts, then the failed request; a stroke marks the limit. The rows below say the same in words. A
 * row and its piece of the bar behave alike: a click filters the views, pointing at one points at both.
 */
function AccountParts({ account, parts, cause }: AccountPartsProps) {
  const { view } = useStores();
  const theme = useTheme();
  const show = useShowPart();
  const search = useView((state) => state.search);
  const colorBy = useView((state) => state.colorBy);
  const [pointed, setPointed] = useState<string>();
  const { reservedBytes, limitBytes = 0, requestedBytes = 0, moment } = account;
  const whole = Math.max(reservedBytes + requestedBytes, limitBytes);
  const share = (bytes: number) => `${(100 * bytes) / whole}%`;
  const isSmall = ({ kind, bytes, isFirst }: AccountPart) =>
    bytes < SMALL_SHARE * reservedBytes && !(kind === cause && isFirst);
  const small = parts.filter(isSmall);
  const isFolding = small.length >= FEW;
  const shared = (part: AccountPart) => {
    const isOn = isPartSearched(search, part);
    const point = () => setPointed(part.name);
    const leave = () => setPointed(undefined);
    const behavior = {
      'data-pointed': part.name === pointed || undefined,
      onClick: () =>
        isOn ? view.commit({ search: withoutPart(search, part) }) : void show(part, moment.event),
      onPointerEnter: point,
      onPointerLeave: leave,
      onFocus: point,
      onBlur: leave,
    };
    return { isOn, color: partColor(theme, colorBy, part), behavior };
  };
  const row = (part: AccountPart) => (
    <AccountRow key={part.name} part={part} parts={parts} whole={reservedBytes} {...shared(part)} />
  );
  return (
    <>
      <div className="account-bar" aria-hidden data-testid="account-bar">
        {parts.map((part) => {
          const { color, behavior } = shared(part);
          return (
            // Needs no keyboard access: its row has it.
            <button
              key={part.name}
              type="button"
              tabIndex={-1}
              data-kind={part.kind}
              title={`${entryLabel(part.kind)}: ${formatBytes(part.bytes)}`}
              style={{ width: share(part.bytes), color }}
              {...behavior}
            />
          );
        })}
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
            title={`The limit: at least ${formatBytes(limitBytes)}`}
            style={{ left: share(limitBytes) }}
          />
        )}
      </div>
      <p className="dim small account-base">share of reserved</p>
      <ul aria-label="Parts of the reserved memory">
        {parts.filter((part) => !isFolding || !isSmall(part)).map(row)}
        {isFolding && (
          <li>
            <details className="account-small">
              <summary>
                <span>{plural(small.length, 'smaller entry', 'smaller entries')}</span>
                <Bytes as="strong" bytes={sumBy(small, ({ bytes }) => bytes)} />
              </summary>
              <ul>{small.map(row)}</ul>
            </details>
          </li>
        )}
      </ul>
    </>
  );
}

interface AccountRowProps {
  readonly part: AccountPart;
  readonly parts: readonly AccountPart[];
  readonly whole: number;
  readonly isOn: boolean;
  readonly color: string | undefined;
  readonly behavior: ComponentProps<'button'>;
}

/** What it is, its line, its growth, its size, and both figures if the legend's differs. */
function AccountRow({ part, parts, whole, isOn, color, behavior }: AccountRowProps) {
  const { kind, bytes, holder, rate, isGrowing } = part;
  const [line] = part.lines;
  const note = classNote(part, parts);
  return (
    <li>
      <Button
        className="account-row"
        aria-pressed={isFree(kind) ? undefined : isOn}
        title={titleOf(part, isOn)}
        {...behavior}
      >
        <span
          className="account-swatch"
          data-kind={kind}
          style={{ color: color ?? 'transparent' }}
          aria-hidden
        />
        <span>
          <span className="term">{entryLabel(kind)}</span>
        </span>
        <span className="figure">
          <Bytes as="strong" bytes={bytes} />{' '}
          <span
            className="dim small"
            title={`${formatPercent(bytes / whole)} of the ${formatBytes(whole)} reserved`}
          >
            {formatPercent(bytes / whole)}
          </span>
        </span>
        {isCohort(kind) && line !== undefined && (
          <span className="dim account-line mono small">
            {frameLabel(line)}
            {part.besides}
          </span>
        )}
        {isCohort(kind) && holder !== undefined && (
          <span className="dim account-line small">
            held by <CodeText text={holder} />
          </span>
        )}
        {rate !== undefined && isGrowing && (
          <span className="dim account-line account-rate small">{rateText(rate)}</span>
        )}
        {note !== undefined && <span className="account-line dim small">{note}</span>}
      </Button>
    </li>
  );
}

/** '+392.16 MiB an iteration in estimate_loss, 6 times'; most repetitions may add nothing to a mean. */
function rateText(rate: EntryRate): string {
  const { bytes, unit, steps, isMean } = rate;
  const bursts = burstsText(rate);
  if (bursts !== undefined) return `+${bursts}`;
  if (steps === 1) return `+${formatBytes(bytes)} in one ${unit}`;
  return `+${formatBytes(bytes)} ${withArticle(unit)}${isMean ? ' on average' : `, ${plural(steps, 'time')}`}`;
}

function titleOf({ kind, count, lines, callers }: AccountPart, isOn: boolean): string {
  const pieces = isFree(kind) ? plural(count, 'free range') : plural(count, 'block');
  const does = isFree(kind)
    ? `Show them in the ${kind === 'gaps' ? 'address map' : 'state of the allocator'}`
    : isOn
      ? 'Clear filter'
      : 'Filter to these';
  const path = [
    ...lines.slice(0, 1).map(frameLabel),
    ...callers.map((line) => `← ${frameLabel(line)}`),
  ];
  const where = isCohort(kind) ? path : [];
  return [`${aboutOf(kind)} ${sentenceCase(pieces)}.`, ...where, does].join('\n');
}

/** What a class's own text does not say. */
const ABOUT: Partial<Record<EntryKind, string>> = {
  kept: 'Tensors that outlived several later steps or forward passes.',
  'kept-graph':
    'What passes made for autograd and something holds on to after the step: a graph, or tensors of one. At the cursor, also what the running step has made of it so far.',
  growing: 'A tensor that is replaced by a larger one again and again.',
  'second-model': 'Parameters of another model, or of the same one once more.',
  gaps: 'Free memory in segments that also hold blocks: a request larger than a gap does not fit. With the empty segments, this is what PyTorch has cached.',
  cached:
    'Segments without any block, which PyTorch keeps for reuse. With the gaps between blocks, this is what PyTorch has cached.',
  pools:
    'Free, but in the pools of CUDA graphs or MemPools. Replays of a graph write there; nothing outside the pool can use it, and empty_cache() does not return it while the graph lives.',
  'pending-free': 'Freed by your program, but another stream may still use it.',
  unknown:
    'Allocated before the oldest event of the recording, or without a stack that says what it is.',
};

const aboutOf = (kind: EntryKind): string =>
  ABOUT[kind] ?? MEMORY_CLASSES[classOf(kind) ?? -1]?.about ?? '';

import { useState } from 'react';
import { formatBytes, formatCount, formatPercent } from '../../core/base/format.ts';
import { classTerm, MEMORY_CLASSES } from '../../core/classes/types.ts';
import { frameLabel } from '../../core/device/frame-text.ts';
import {
  type Account,
  type AccountEntry,
  type EntryKind,
  entryLabel,
} from '../../core/findings/account/types.ts';
import type { Judgement } from '../../core/findings/verdict/verdict.ts';
import { frameTerm } from '../../core/search/qualifiers/frame.ts';
import { useStores } from '../../state/stores.ts';
import { Bytes } from '../shared/bytes.tsx';
import { FilterLink } from '../shared/filter-link.tsx';
import { Segmented } from '../shared/segmented.tsx';
import { classColors, plotColors, type ThemeName } from '../theme/palette.ts';
import { useTheme } from '../theme/use-theme.ts';

const MOMENTS = { oom: 'At the OOM', peak: 'At the peak', end: 'At the end' } as const;
type Shown = 'main' | 'end';

/** Every reserved byte of a moment: a bar of the whole, and a row for each part. */
export function AccountPanel({
  account,
  accountAtEnd,
}: Pick<Judgement, 'account' | 'accountAtEnd'>) {
  const [shown, setShown] = useState<Shown>('main');
  const current = shown === 'end' ? accountAtEnd : account;
  const { moment, reservedBytes, limitBytes, entries } = current;
  const { view } = useStores();
  if (account.reservedBytes === 0 && accountAtEnd.reservedBytes === 0) return undefined;
  const event = formatCount(moment.event);
  return (
    <section className="account" aria-label="Where the memory is">
      <h3 className="findings-heading">Where the memory is</h3>
      <p className="account-moment">
        {account.moment.why === 'end' ? (
          <span>{MOMENTS.end}</span>
        ) : (
          <Segmented<Shown>
            label="Moment"
            value={shown}
            options={[
              { value: 'main', label: MOMENTS[account.moment.why] },
              { value: 'end', label: MOMENTS.end },
            ]}
            onChange={setShown}
          />
        )}{' '}
        {moment.event >= 0 && (
          <button
            type="button"
            className="link"
            title="Put the cursor at this event"
            onClick={() => view.commit({ cursor: moment.event })}
          >
            event {event}
          </button>
        )}
      </p>
      <p className="dim small">
        <Bytes as="strong" bytes={reservedBytes} /> reserved
        {limitBytes !== undefined && (
          <>
            {' of about '}
            <Bytes bytes={Math.max(limitBytes, reservedBytes)} /> that the process could have
          </>
        )}
      </p>
      <AccountBar account={current} />
      <ul className="account-entries" aria-label="Parts of the reserved memory">
        {entries.map((entry, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two cohorts may have the same kind and line; none moves
          <EntryRow key={i} entry={entry} whole={reservedBytes} />
        ))}
      </ul>
    </section>
  );
}

/** One stacked bar, of the limit where it is known. */
function AccountBar({ account }: { readonly account: Account }) {
  const theme = useTheme();
  const { entries, reservedBytes, limitBytes = 0 } = account;
  const whole = Math.max(reservedBytes, limitBytes);
  return (
    <div className="account-bar" aria-hidden>
      {entries.map(({ kind, bytes }, i) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: as above
          key={i}
          title={`${entryLabel(kind)}: ${formatBytes(bytes)}`}
          style={{ width: `${(100 * bytes) / whole}%`, background: colorOf(theme, kind) }}
        />
      ))}
    </div>
  );
}

interface EntryRowProps {
  readonly entry: AccountEntry;
  /** Reserved bytes of the moment. */
  readonly whole: number;
}

function EntryRow({ entry, whole }: EntryRowProps) {
  const theme = useTheme();
  const { kind, bytes, count, lines, rate, isGrowing } = entry;
  const [line] = lines;
  const label = entryLabel(kind);
  const term = termOf(entry);
  const blocks = `${formatCount(count)} ${kind === 'gaps' || kind === 'cached' ? 'free ranges' : 'blocks'}`;
  return (
    <li>
      <span className="account-swatch" style={{ background: colorOf(theme, kind) }} aria-hidden />
      <span className="account-label">
        {term === undefined ? (
          <span title={ABOUT[kind] ?? blocks}>{label}</span>
        ) : (
          <FilterLink term={term} about={`${ABOUT[kind] ?? label}: ${blocks}`}>
            {label}
          </FilterLink>
        )}
        {line !== undefined && isKept(kind) && (
          <span className="account-line mono small" title={lines.map(frameLabel).join('\n← ')}>
            {frameLabel(line)}
          </span>
        )}
        {rate !== undefined && isGrowing && (
          <span className="account-rate small">
            {`+${formatBytes(rate.bytes)} a ${rate.unit}, ${formatCount(rate.steps)} times`}
          </span>
        )}
      </span>
      <span className="account-bytes">
        <Bytes as="strong" bytes={bytes} />{' '}
        <span className="dim small">{formatPercent(bytes / whole)}</span>
      </span>
    </li>
  );
}

const isKept = (kind: EntryKind): boolean =>
  kind === 'kept' || kind === 'kept-graph' || kind === 'growing' || kind === 'second-model';

/** What is meant, in a sentence, where the name alone does not say it. */
const ABOUT: Partial<Record<EntryKind, string>> = {
  kept: 'Tensors made in a step that are still live several steps later',
  'kept-graph': 'Activations that autograd holds on to after the step that made them',
  growing: 'A tensor that is replaced by a larger one again and again',
  gaps: 'Free memory between live blocks: it cannot be given back, and a larger request does not fit',
  cached:
    'Segments with nothing in them, which PyTorch keeps for reuse and gives back when memory is short',
  workspaces: 'Scratch memory of cuBLAS and cuDNN',
  unknown:
    'Nothing in the recording says what it is: allocated before recording began, or without a stack',
};

/** The search that leaves an entry's blocks; undefined for what is no block, or has no line. */
function termOf({ kind, lines: [line] }: AccountEntry): string | undefined {
  if (isKept(kind)) return line === undefined ? undefined : frameTerm(line);
  const id = kind === 'kv-cache' ? 'growing-state' : kind;
  const found = MEMORY_CLASSES.findIndex((one) => one.id === id);
  return found < 0 ? undefined : classTerm(found as Parameters<typeof classTerm>[0]);
}

/** The color of its class, as in the legend; what is free has the colors of absence. */
function colorOf(theme: ThemeName, kind: EntryKind): string {
  if (kind === 'gaps' || kind === 'cached')
    return kind === 'gaps' ? 'var(--warning)' : 'var(--border-strong)';
  if (kind === 'pending-free') return plotColors(theme).pending;
  const id = CLASS_OF[kind] ?? kind;
  return classColors(theme, 'class')[MEMORY_CLASSES.findIndex((one) => one.id === id)] ?? '';
}

const CLASS_OF: Partial<Record<EntryKind, string>> = {
  'second-model': 'kept',
  'kept-graph': 'kept',
  growing: 'growing-state',
  'kv-cache': 'growing-state',
};

import './ranks.css';
import { Grid3x3, List, X } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import type { JobView, RankDetails, RankRow } from '../../../analysis/ranks/job-view.ts';
import { isSummaryName } from '../../../analysis/summary-file/rank-of-name.ts';
import { plural } from '../../../base/format.ts';
import { frameTerm } from '../../../device/search/qualifier.ts';
import { useStores } from '../../../state/stores.ts';
import type { ViewState } from '../../../state/view-store.ts';
import type { OpenSource } from '../../../worker/protocol.ts';
import { ClassKey } from '../../plot/class-key.tsx';
import {
  Button,
  CopyButton,
  IconButton,
  type Option,
  Segmented,
  Select,
} from '../../shared/buttons.tsx';
import { useServices } from '../../shared/services.ts';
import '../../shared/verdict-card.css';
import type { RanksClient } from '../../../worker/ranks/client.ts';
import { HeatMap } from './heat-map.tsx';
import { MomentsView } from './moments-view.tsx';
import { RankDetailsPanel } from './rank-details.tsx';
import { listItems, ORDERS, RankList, type RankOrder } from './rank-list.tsx';
import { type GivenRanks, type JobState, useJob } from './use-job.ts';

export interface RanksPageProps {
  readonly given: GivenRanks;
  /** A rank's snapshot is open instead; the ranks stay for the way back. */
  readonly isHidden: boolean;
  readonly onShow: (isShown: boolean) => void;
  readonly onCompare: (a: OpenSource, b: OpenSource) => void;
  readonly onClose: () => void;
}

export function RanksPage(props: RanksPageProps) {
  const state = useJob(props.given);
  const { job, failure, sources, done } = state;
  return (
    <main className="fill column ranks-page" aria-label="Ranks" hidden={props.isHidden}>
      {failure !== undefined && (
        <p className="callout" role="alert" data-testid="error">
          {failure.message} {failure.advice}
        </p>
      )}
      {done < sources.length && (
        <p className="inline-row dim" role="status">
          <progress max={sources.length} value={done} /> {done} of {plural(sources.length, 'file')}{' '}
          read
        </p>
      )}
      {job !== undefined && <JobPage {...props} state={state} job={job} />}
      {job === undefined && (
        <Button onClick={props.onClose}>{failure === undefined ? 'Cancel' : 'Close'}</Button>
      )}
    </main>
  );
}

type RanksView = 'ranks' | 'heat';

const VIEWS: readonly Option<RanksView>[] = [
  { value: 'ranks', label: 'Ranks', icon: List },
  { value: 'heat', label: 'Heat map', icon: Grid3x3 },
];

interface JobPageProps extends RanksPageProps {
  readonly state: JobState;
  readonly job: JobView;
}

function JobPage({ state, job, onShow, onCompare, onClose }: JobPageProps) {
  const { loader } = useServices();
  const { session, view } = useStores();
  const [chosenOrder, setOrder] = useState<RankOrder>();
  // Files arrive one by one, so the default order and selection follow the first outlier found.
  const [first = job.difference] = job.outliers;
  const order = chosenOrder ?? (first === null ? 'rank' : 'distance');
  const [isGrouped, setIsGrouped] = useState(false);
  const [shown, setShown] = useState<RanksView>('ranks');
  const [chosen, setChosen] = useState<{ readonly rank: number; readonly column?: number }>();
  const items = useMemo(() => listItems(job, order, isGrouped), [job, order, isGrouped]);
  const selected = chosen?.rank ?? first?.rank ?? job.ranks[0]?.rank;
  const details = useDetails(state, selected);
  const rowOf = (rank: number | undefined) => job.ranks.find((one) => one.rank === rank);
  const row = rowOf(selected);
  /** Undefined for a summary, which has nothing to open. */
  const sourceAt = (path = ''): OpenSource | undefined =>
    isSummaryName(path) ? undefined : state.sources.find((one) => one.path === path)?.source;
  const sourceOf = (rank: number | undefined) => sourceAt(rowOf(rank)?.path);
  /** Opens a rank's snapshot in place of the ranks, at a view that may differ from the default. */
  const open = async (rank: number | undefined, column = chosen?.column) => {
    const source = sourceOf(rank);
    if (source === undefined) return;
    const events = rank === details?.rank ? details?.stepEvents : undefined;
    const place = placeOf(rowOf(rank), column === undefined ? undefined : events?.[column]);
    onShow(false);
    await loader.open(source);
    if (session.getState().phase === 'ready') {
      view.restore({ ...view.getState().view, ...place });
    }
  };
  const openDump = (path: string) => {
    const source = sourceAt(path);
    if (source === undefined) return;
    onShow(false);
    void loader.open(source);
  };
  const own = sourceOf(selected);
  // The rank closest to the median that can be opened.
  const middleRank = details?.middleRanks.find((rank) => sourceOf(rank) !== undefined);
  const middle = sourceOf(middleRank);
  const { client } = state;
  const { moments } = job;
  if (moments !== null) {
    const [a, b] = [moments.dumps.at(0), moments.dumps.at(-1)].map((one) => sourceAt(one?.path));
    return (
      <>
        <Verdict job={job} />
        <div className="row ranks-toolbar">
          <span>{plural(moments.dumps.length, 'dump')} of one process</span>
          <span className="spacer" />
          {client !== undefined && <CopyMarkdown client={client} />}
          <IconButton icon={X} label="Close the dumps" onClick={onClose} />
        </div>
        <MomentsView {...moments} onOpen={openDump} onCompare={a && b && (() => onCompare(a, b))} />
      </>
    );
  }
  return (
    <>
      <Verdict job={job} />
      <div className="row ranks-toolbar">
        <span>
          {plural(job.ranks.length, 'rank')} in {plural(job.roles.length, 'role')}
        </span>
        <label>
          Order by <Select value={order} options={ORDERS} onChoose={setOrder} />
        </label>
        <label>
          <input
            type="checkbox"
            checked={isGrouped}
            onChange={({ target }) => setIsGrouped(target.checked)}
          />{' '}
          Group by role
        </label>
        <span className="spacer" />
        <Segmented label="View" value={shown} options={VIEWS} onChange={setShown} />
        {client !== undefined && <CopyMarkdown client={client} />}
        <IconButton icon={X} label="Close the ranks" onClick={onClose} />
      </div>
      {shown === 'ranks' && (
        <ClassKey
          has={(one) => job.ranks.some(({ classBytes }) => (classBytes[one.class] ?? 0) > 0)}
        />
      )}
      <div className="fill ranks-body">
        {shown === 'heat' ? (
          <HeatMap
            job={job}
            items={items}
            onSelect={(rank, column) => setChosen({ rank, column })}
          />
        ) : (
          <RankList
            job={job}
            items={items}
            selected={selected}
            onSelect={(rank) => setChosen({ rank })}
            onOpen={(rank) => void open(rank, undefined)}
          />
        )}
        {row !== undefined && (
          <RankDetailsPanel
            job={job}
            row={row}
            details={details}
            middleRank={middleRank}
            onOpen={own && (() => void open(selected))}
            onCompare={own && middle && (() => onCompare(middle, own))}
          />
        )}
      </div>
    </>
  );
}

const CopyMarkdown = ({ client }: { readonly client: RanksClient }) => (
  <CopyButton
    className="button"
    label="as Markdown"
    title="Copy as Markdown"
    text={() => client.query('markdown', undefined)}
  >
    Copy as Markdown
  </CopyButton>
);

/** The step pointed at, else the peak; searches for the line that an outlier is about. */
function placeOf(row: RankRow | undefined, event: number | undefined): Partial<ViewState> {
  const frame = row?.outlier?.frame;
  return {
    ...(event !== undefined && { cursor: event }),
    ...(frame && { search: frameTerm({ ...frame, filename: frame.file }) }),
  };
}

/** The selected rank's details. The previous ones stay until the new ones arrive. */
function useDetails({ client, job }: JobState, rank: number | undefined): RankDetails | undefined {
  const [details, setDetails] = useState<RankDetails>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another job may say other things of the rank
  useEffect(() => {
    if (client === undefined || rank === undefined) return;
    let isOver = false;
    // If it fails, the page was closed meanwhile.
    const show = (found: RankDetails | undefined) => isOver || setDetails(found);
    client.query('details', { rank }).then(show, () => undefined);
    return () => {
      isOver = true;
    };
  }, [client, job, rank]);
  return details?.rank === rank ? details : undefined;
}

function Verdict({ job }: { readonly job: JobView }) {
  const isUnlike = job.ranks.some(({ outlier }) => outlier !== undefined);
  const tone = job.failure.failed.length > 0 ? 'severe' : isUnlike ? 'warning' : 'calm';
  return (
    <div className="verdict ranks-verdict" data-tone={tone} role="status" aria-label="Verdict">
      <div className="column">
        <strong>{job.verdict}</strong>
        {job.problems.length > 0 && (
          <details className="dim" open={job.problems.length <= 3}>
            <summary>{plural(job.problems.length, 'problem')} with the files</summary>
            {job.problems.map(({ message }) => (
              <p key={message}>{message}</p>
            ))}
          </details>
        )}
      </div>
    </div>
  );
}

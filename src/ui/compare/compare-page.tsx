import './compare.css';
import { ArrowLeftRight, FolderOpen, X } from 'lucide-react';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { useStore } from 'zustand';
import { mainDeviceIndex } from '../../core/device/main-device.ts';
import type { DeviceInfo, SessionInfo } from '../../core/device/types.ts';
import { AllocationsView } from '../allocations/allocations-view.tsx';
import { FilePicker } from '../open/file-picker.tsx';
import { CodeText } from '../shared/code-text.tsx';
import { useServices } from '../shared/services.ts';
import { type CompareTab, type ComparisonView, type FileMark, TABS } from './comparison-view.ts';
import { DifferenceFlameView } from './difference-flame.tsx';
import { DifferenceTable } from './difference-table.tsx';
import { FactsTable } from './facts-table.tsx';
import { useFollowedRow } from './followed-row.ts';
import { canLinkSteps } from './linked-axis.ts';
import { LinkedTimelines, type TimelineSide } from './linked-timelines.tsx';
import type { SecondSession } from './second-session.ts';
import { type OpenSide, SideProvider, useSideView } from './side-context.tsx';
import { type SiteRow, siteRows } from './site-rows.ts';
import { type ComparedPair, useComparison } from './use-comparison.ts';
import { type ComparisonViewHandle, useComparisonView } from './use-comparison-view.ts';
import { WhatIfTable } from './what-if-table.tsx';

export { beginSecondSession } from './second-session.ts';

interface ComparePageProps {
  /** The file that is open. */
  readonly info: SessionInfo;
  /** The one to compare it with; undefined until it is given. */
  readonly second: SecondSession | undefined;
  readonly onClose: () => void;
}

/** Two files: why one needs more than the other. */
export function ComparePage({ info, second, onClose }: ComparePageProps) {
  if (second === undefined) return <WaitingPage info={info} onClose={onClose} />;
  return <SecondPage key={second.name} info={info} second={second} onClose={onClose} />;
}

function WaitingPage({ info, onClose }: Omit<ComparePageProps, 'second'>) {
  const handle = useComparisonView(info.file, undefined);
  const { a, b } = handle;
  const missing = [a, b].find((mark) => mark !== undefined && mark.bytes !== info.file.bytes);
  return (
    <main className="compare-page">
      <div className="blank" data-testid="compare-waiting">
        <h2>Compare {info.file.name} with another snapshot</h2>
        <p>
          {missing === undefined
            ? 'Drop the second file anywhere on this page, or choose it.'
            : `This link compares it with ${missing.name} (${missing.bytes} bytes). Drop that file anywhere on this page, or choose it.`}
        </p>
        <div className="compare-actions">
          <FilePicker className="button button-primary">
            <FolderOpen size={15} aria-hidden />
            Choose the second file…
          </FilePicker>
          <button type="button" className="button" onClick={() => close(handle, onClose)}>
            Don’t compare
          </button>
        </div>
      </div>
    </main>
  );
}

function close(handle: ComparisonViewHandle, onClose: () => void): void {
  onClose();
  handle.close();
}

function SecondPage({
  info,
  second,
  onClose,
}: ComparePageProps & { readonly second: SecondSession }) {
  const state = useStore(second);
  if (state.phase === 'ready') {
    return <OpenPage info={info} second={second} secondInfo={state.info} onClose={onClose} />;
  }
  const { progress } = state.phase === 'loading' ? state : {};
  const share =
    progress?.totalBytes === undefined ? undefined : progress.readBytes / progress.totalBytes;
  return (
    <main className="compare-page">
      <div className="blank" role={state.phase === 'failed' ? 'alert' : 'status'}>
        {state.phase === 'loading' ? (
          <>
            <h2>Reading {second.name}…</h2>
            <progress value={share} aria-label={`Reading ${second.name}`} />
          </>
        ) : (
          <>
            <h2>{second.name} could not be read</h2>
            <p>
              {state.failure.message} {state.failure.advice}
            </p>
            <div className="compare-actions">
              {state.failure.partialEvents !== undefined && (
                <button
                  type="button"
                  className="button button-primary"
                  onClick={() => second.openPartially()}
                >
                  Compare what comes before the damage
                </button>
              )}
              <button type="button" className="button" onClick={onClose}>
                Show {info.file.name} alone
              </button>
            </div>
          </>
        )}
      </div>
    </main>
  );
}

interface OpenPageProps extends ComparePageProps {
  readonly second: SecondSession;
  readonly secondInfo: SessionInfo;
}

function OpenPage({ info, second, secondInfo, onClose }: OpenPageProps) {
  const { session } = useServices();
  const handle = useComparisonView(info.file, secondInfo.file);
  useLinkOfTheseFiles(handle, info.file, secondInfo.file);
  const { deviceA, deviceB, isSwapped } = handle.view;
  const [a, b] = useMemo(() => {
    const opened = { session, info };
    const other = { session: second.session, info: secondInfo };
    const [first, last] = isSwapped ? [other, opened] : [opened, other];
    const side = (letter: 'A' | 'B', { session: own, info: of }: typeof first, at?: number) => {
      const device = of.devices[at ?? mainDeviceIndex(of.devices)] ?? of.devices[0];
      return device && { letter, session: own, info: of, device };
    };
    return [side('A', first, deviceA), side('B', last, deviceB)] as const;
  }, [session, info, second, secondInfo, isSwapped, deviceA, deviceB]);
  if (a === undefined || b === undefined) {
    const empty = a === undefined ? info : secondInfo;
    return (
      <main className="compare-page">
        <div className="blank">
          <h2>{empty.file.name} is empty</h2>
          <p>It has no events and no segments for any device: there is nothing to compare.</p>
          <button type="button" className="button" onClick={() => close(handle, onClose)}>
            Don’t compare
          </button>
        </div>
      </main>
    );
  }
  return <Compared a={a} b={b} handle={handle} onClose={() => close(handle, onClose)} />;
}

/** A link names its two files: given the other way round, they change places. */
function useLinkOfTheseFiles(handle: ComparisonViewHandle, open: FileMark, second: FileMark): void {
  const { a, b, view, adjust } = handle;
  const isReversed =
    a?.bytes === second.bytes && b?.bytes === open.bytes && open.bytes !== second.bytes;
  useEffect(() => {
    adjust(isReversed ? { isSwapped: !view.isSwapped } : {});
  }, [adjust, isReversed, view.isSwapped]);
}

interface ComparedProps {
  readonly a: OpenSide;
  readonly b: OpenSide;
  readonly handle: ComparisonViewHandle;
  readonly onClose: () => void;
}

function Compared({ a, b, handle, onClose }: ComparedProps) {
  const { view } = handle;
  const state = useComparison(a, b, view.at);
  const compared = state.phase === 'ready' ? state.compared : undefined;
  return (
    <main className="compare-page" data-testid="compare" aria-busy={compared === undefined}>
      <CompareHead a={a} b={b} handle={handle} onClose={onClose} />
      {state.phase === 'failed' && (
        <div className="blank" role="alert">
          <h2>The files could not be compared</h2>
          <p>{state.message}</p>
        </div>
      )}
      {state.phase === 'comparing' && <p className="compare-wait dim">Comparing…</p>}
      {compared !== undefined && (
        <ComparedContent key={compared.pair} a={a} b={b} compared={compared} handle={handle} />
      )}
    </main>
  );
}

function CompareHead({ a, b, handle, onClose }: ComparedProps) {
  const { view, commit } = handle;
  return (
    <div className="compare-head">
      <h2 className="visually-hidden">Comparison</h2>
      <SideHead side={a} onDevice={(deviceA) => commit({ deviceA, row: undefined })} />
      <button
        type="button"
        className="icon-button"
        aria-label="Swap A and B"
        title="Swap A and B"
        onClick={() =>
          commit({
            isSwapped: !view.isSwapped,
            deviceA: view.deviceB,
            deviceB: view.deviceA,
            row: undefined,
          })
        }
      >
        <ArrowLeftRight size={15} aria-hidden />
      </button>
      <SideHead side={b} onDevice={(deviceB) => commit({ deviceB, row: undefined })} />
      <span className="spacer" />
      <Choice
        label="Moment"
        value={view.at}
        options={[
          {
            value: 'peak',
            label: 'at the peaks',
            about: 'Each file where its allocated memory peaks',
          },
          { value: 'end', label: 'at the ends', about: 'Each file at the end of its recording' },
        ]}
        onChange={(at) => commit({ at, row: undefined })}
      />
      <button type="button" className="button" onClick={onClose} title="Show one file alone">
        <X size={14} aria-hidden />
        Close
      </button>
    </div>
  );
}

function SideHead({
  side,
  onDevice,
}: {
  readonly side: OpenSide;
  readonly onDevice: (position: number) => void;
}) {
  const { letter, info, device } = side;
  return (
    <span className="compare-side">
      <span className="compare-letter" data-side={letter}>
        {letter}
      </span>
      <span className="compare-file" title={info.file.name}>
        {info.file.name}
      </span>
      {info.devices.length > 1 && (
        <select
          className="select"
          aria-label={`Device of ${letter}`}
          value={device.index}
          onChange={({ currentTarget }) => onDevice(Number(currentTarget.value))}
        >
          {info.devices.map((one) => (
            <option key={one.index} value={one.index}>
              {deviceText(one)}
            </option>
          ))}
        </select>
      )}
    </span>
  );
}

const deviceText = ({ kind, device }: DeviceInfo): string =>
  kind === 'host' ? 'host (pinned)' : `cuda:${device}`;

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly {
    readonly value: T;
    readonly label: string;
    readonly about: string;
  }[];
  readonly onChange: (value: T) => void;
}

function Choice<T extends string>({ label, value, options, onChange }: ChoiceProps<T>) {
  return (
    <fieldset className="segmented" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          title={option.about}
          aria-pressed={option.value === value}
          onClick={() => option.value !== value && onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  );
}

interface ComparedContentProps {
  readonly a: OpenSide;
  readonly b: OpenSide;
  readonly compared: ComparedPair;
  readonly handle: ComparisonViewHandle;
}

function ComparedContent({ a, b, compared, handle }: ComparedContentProps) {
  const { view, commit, adjust } = handle;
  const { comparison } = compared;
  const rows = useMemo(() => siteRows(comparison), [comparison]);
  const sideA = useTimelineSide(a, compared.a);
  const sideB = useTimelineSide(b, compared.b);
  const row = rows.find(({ name }) => name === view.row);
  useFollowedRow(row, sideA, sideB);
  const hasSteps = canLinkSteps(compared.a, compared.b);
  const link = hasSteps ? view.link : 'share';
  const [onWindow] = useState(() => (window: ComparisonView['window']) => adjust({ window }));
  return (
    <>
      <div className="compare-verdict" role="status" aria-label="Verdict">
        <VerdictText verdict={comparison.verdict} />
        {comparison.caveats.map((caveat) => (
          <p key={caveat} className="dim">
            {caveat}
          </p>
        ))}
      </div>
      <LinkedTimelines a={sideA} b={sideB} link={link} window={view.window} onWindow={onWindow} />
      <div className="compare-tabs-row">
        <Tabs tab={view.tab} onTab={(tab) => commit({ tab })} />
        <span className="spacer" />
        {hasSteps && (
          <Choice
            label="Timelines linked by"
            value={view.link}
            options={[
              {
                value: 'step',
                label: 'by step',
                about: 'The same step of both runs is at the same place',
              },
              {
                value: 'share',
                label: 'by share',
                about: 'The same share of both runs is at the same place',
              },
            ]}
            onChange={(next) => commit({ link: next, window: undefined })}
          />
        )}
        <button
          type="button"
          className="button"
          disabled={view.window === undefined}
          onClick={() => commit({ window: undefined })}
        >
          Show both whole
        </button>
      </div>
      {row !== undefined && (
        <p className="compare-followed" role="status" aria-label="Row that is followed">
          <span>
            <strong>{row.place}</strong> {row.about}: {followedText(row)}
          </span>
          <button type="button" className="button" onClick={() => commit({ row: undefined })}>
            Clear
          </button>
        </p>
      )}
      <div className="compare-content">
        <TabContent {...{ a, b, compared, handle, rows, sideA, sideB }} />
      </div>
    </>
  );
}

/** Where the row's allocations are seen: a call site of one side alone is not in the other. */
function followedText({ a, b }: SiteRow): string {
  if ((b ?? a)?.example === -1) return 'no single allocation is behind it.';
  if (a === undefined) return 'highlighted in the timeline of B, and listed under “In B”.';
  if (b === undefined) return 'highlighted in the timeline of A, and listed under “In A”.';
  return 'highlighted in both timelines, and listed under “In A” and “In B”.';
}

/** The cause is in the first sentence; the others are its evidence. */
function VerdictText({ verdict }: { readonly verdict: string }) {
  const end = verdict.indexOf('. ');
  const [first, rest] =
    end < 0 ? [verdict, ''] : [verdict.slice(0, end + 1), verdict.slice(end + 2)];
  return (
    <>
      <p>
        <strong>
          <CodeText text={first} />
        </strong>
      </p>
      {rest !== '' && (
        <p>
          <CodeText text={rest} />
        </p>
      )}
    </>
  );
}

function useTimelineSide(open: OpenSide, side: ComparedPair['a']): TimelineSide {
  const view = useSideView(open);
  useEffect(() => view.adjust({ cursor: Math.max(0, side.event) }), [view, side]);
  return useMemo(() => ({ open, view, side }), [open, view, side]);
}

const TAB_LABELS: Readonly<Record<CompareTab, string>> = {
  sites: 'Differences',
  flame: 'Flame graph',
  facts: 'Side by side',
  whatif: 'What-if',
  a: 'In A',
  b: 'In B',
};

function Tabs({
  tab,
  onTab,
}: {
  readonly tab: CompareTab;
  readonly onTab: (tab: CompareTab) => void;
}) {
  return (
    <nav className="view-tabs" aria-label="Views of the comparison">
      {TABS.map((one) => (
        <button
          key={one}
          type="button"
          className="view-tab"
          aria-current={one === tab ? 'page' : undefined}
          onClick={() => onTab(one)}
        >
          {TAB_LABELS[one]}
        </button>
      ))}
    </nav>
  );
}

interface TabContentProps extends ComparedContentProps {
  readonly rows: ReturnType<typeof siteRows>;
  readonly sideA: TimelineSide;
  readonly sideB: TimelineSide;
}

function TabContent({ a, b, compared, handle, rows, sideA, sideB }: TabContentProps): ReactNode {
  const { view, commit, adjust } = handle;
  switch (view.tab) {
    case 'sites':
      return (
        <DifferenceTable
          rows={rows}
          view={view}
          // Each letter that is typed is no step to go back to.
          onChange={(change) => ('text' in change ? adjust(change) : commit(change))}
        />
      );
    case 'flame':
      return <DifferenceFlameView compared={compared} by={a} />;
    case 'facts':
      return <FactsTable compared={compared} />;
    case 'whatif':
      return <WhatIfTable a={a} b={b} />;
    case 'a':
    case 'b': {
      const side = view.tab === 'a' ? sideA : sideB;
      return (
        <SideProvider key={view.tab} side={side.open} view={side.view}>
          <AllocationsView />
        </SideProvider>
      );
    }
  }
}

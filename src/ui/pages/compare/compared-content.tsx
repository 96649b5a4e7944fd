/** Compares two files that have been read: the verdict, both timelines and the differences, in tabs. */
import { type ReactNode, useMemo, useState } from 'react';
import { Button, Segmented } from '../../shared/buttons.tsx';
import { CodeText } from '../../shared/facts.tsx';
import { View as AllocationsView } from '../../views/allocations/allocations-view.tsx';
import {
  type CompareTab,
  type ComparisonView,
  type ComparisonViewHandle,
  TABS,
} from './comparison-view.ts';
import { DifferenceFlameView, DifferenceTable } from './difference-table.tsx';
import { FactsTable, WhatIfTable } from './facts-table.tsx';
import { canLinkSteps } from './linked-axis.ts';
import { LinkedTimelines, useFollowedRow } from './linked-timelines.tsx';
import {
  type ComparedPair,
  type ComparedSide,
  type OpenSide,
  SideProvider,
  useComparedSide,
} from './sides.tsx';
import { type SiteRow, siteRows } from './site-rows.ts';

interface ComparedContentProps {
  readonly a: OpenSide;
  readonly b: OpenSide;
  readonly compared: ComparedPair;
  readonly handle: ComparisonViewHandle;
}

export function ComparedContent({ a, b, compared, handle }: ComparedContentProps) {
  const { view, commit, adjust } = handle;
  const { comparison } = compared;
  const rest = comparison.verdict.slice(comparison.headline.length).trim();
  const rows = useMemo(() => siteRows(comparison), [comparison]);
  const sideA = useComparedSide(a, compared.a);
  const sideB = useComparedSide(b, compared.b);
  const row = rows.find(({ name }) => name === view.row);
  useFollowedRow(row, sideA, sideB);
  const hasSteps = canLinkSteps(compared.a, compared.b);
  const link = hasSteps ? view.link : 'share';
  const [onWindow] = useState(() => (window: ComparisonView['window']) => adjust({ window }));
  return (
    <>
      <div className="bar compare-verdict" role="status" aria-label="Verdict">
        <p>
          <strong>
            <CodeText text={comparison.headline} />
          </strong>
        </p>
        {rest !== '' && (
          <p>
            <CodeText text={rest} />
          </p>
        )}
        {comparison.caveats.map((caveat) => (
          <p key={caveat} className="dim">
            {caveat}
          </p>
        ))}
      </div>
      <LinkedTimelines a={sideA} b={sideB} link={link} window={view.window} onWindow={onWindow} />
      <div className="row bar compare-tabs-row">
        <nav className="view-tabs" aria-label="Views of the comparison">
          {TABS.map((tab) => (
            <Button
              key={tab}
              className="tab view-tab"
              aria-current={tab === view.tab ? 'page' : undefined}
              onClick={() => commit({ tab })}
            >
              {TAB_LABELS[tab]}
            </Button>
          ))}
        </nav>
        <span className="spacer" />
        {hasSteps && (
          <Segmented
            label="Timelines linked by"
            value={view.link}
            options={LINKS}
            onChange={(next) => commit({ link: next, window: undefined })}
          />
        )}
        <Button disabled={view.window === undefined} onClick={() => commit({ window: undefined })}>
          Show both whole
        </Button>
      </div>
      {row !== undefined && (
        <p className="row compare-followed" role="status" aria-label="Row that is followed">
          <span>
            <strong>{row.place}</strong> {row.about}: {followedText(row)}
          </span>
          <Button onClick={() => commit({ row: undefined })}>Clear</Button>
        </p>
      )}
      <div className="compare-content">
        <TabContent a={sideA} b={sideB} {...{ compared, handle, rows }} />
      </div>
    </>
  );
}

const LINKS = [
  { value: 'step', label: 'by step', about: 'The same step of both runs is at the same place' },
  { value: 'share', label: 'by share', about: 'The same share of both runs is at the same place' },
] as const;

/** Says which side shows the row's allocations. A call site that only one side has is missing in the other. */
function followedText({ a, b }: SiteRow): string {
  if ((b ?? a)?.example === -1) return 'no single allocation is behind it.';
  if (a === undefined) return 'highlighted in the timeline of B, and listed under “In B”.';
  if (b === undefined) return 'highlighted in the timeline of A, and listed under “In A”.';
  return 'highlighted in both timelines, and listed under “In A” and “In B”.';
}

const TAB_LABELS: Readonly<Record<CompareTab, string>> = {
  sites: 'Differences',
  flame: 'Flame graph',
  facts: 'Side by side',
  whatif: 'What-if',
  a: 'In A',
  b: 'In B',
};

interface TabContentProps extends Pick<ComparedContentProps, 'compared' | 'handle'> {
  readonly rows: readonly SiteRow[];
  readonly a: ComparedSide;
  readonly b: ComparedSide;
}

function TabContent({ a, b, compared, handle, rows }: TabContentProps): ReactNode {
  const { view, commit, adjust } = handle;
  switch (view.tab) {
    case 'sites':
      return (
        <DifferenceTable
          rows={rows}
          view={view}
          // Typing a letter must not add a step to the history.
          onChange={(change) => ('text' in change ? adjust(change) : commit(change))}
        />
      );
    case 'flame':
      return (
        <SideProvider {...a}>
          <DifferenceFlameView pair={compared.pair} view={view} onChange={commit} />
        </SideProvider>
      );
    case 'facts':
      return <FactsTable compared={compared} />;
    case 'whatif':
      return <WhatIfTable a={a.open} b={b.open} />;
    case 'a':
    case 'b':
      return (
        <SideProvider key={view.tab} {...(view.tab === 'a' ? a : b)}>
          <AllocationsView />
        </SideProvider>
      );
  }
}

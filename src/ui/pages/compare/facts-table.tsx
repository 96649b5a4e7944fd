import { type ReactNode, useEffect, useState } from 'react';
import { useStore } from 'zustand';
import { PRESETS } from '../../../allocator/simulator/presets.ts';
import { entryName, signedBytes } from '../../../analysis/compare/change-text.ts';
import type { RunProfile } from '../../../analysis/compare/types.ts';
import { errorText } from '../../../base/errors.ts';
import { formatBytes, formatCount, formatExactBytes } from '../../../base/format.ts';
import { settingText } from '../../../device/memory-summary/settings.ts';
import { peakText } from '../../../device/model/main-device.ts';
import { deviceTitle, whyNotSimulated } from '../../../device/model/vendors.ts';
import { createAnalysisClient } from '../../../worker/analysis/client.ts';
import {
  resultOf,
  runMissing,
  type WhatIfResults,
  whatIfStoreOf,
} from '../../panels/what-if/what-if-runs.ts';
import { COUNTERS } from '../../shared/device-labels.ts';
import { Blank, TableHead } from '../../shared/facts.tsx';
import { useServices } from '../../shared/services.ts';
import type { ComparedPair, OpenSide } from './sides.tsx';

export function FactsTable({
  compared: { a, b, comparison },
}: {
  readonly compared: ComparedPair;
}) {
  const settings = [...new Set([...Object.keys(a.settings), ...Object.keys(b.settings)])]
    .map((name) => textRow(name, settingOf(a, name), settingOf(b, name)))
    .sort((x, y) => Number(y.differs) - Number(x.differs));
  const entries = comparison.entries.map((entry) =>
    bytesRow(entryName(entry), entry.bytesA, entry.bytesB),
  );
  const peaks = COUNTERS.map(({ name, label }) =>
    bytesRow(label, a.peak[name], b.peak[name], [a, b]),
  );
  const recordings = RECORDING_FACTS.map(([name, textOf]) => textRow(name, textOf(a), textOf(b)));
  return (
    <FactsPage>
      <Facts title="Memory by entry" rows={entries} />
      <Facts title="Peaks of the counters" rows={peaks} />
      <Facts title="Recordings" rows={recordings} />
      <Facts title="Allocator settings" rows={settings} />
    </FactsPage>
  );
}

interface FactRow {
  readonly name: string;
  readonly differs: boolean;
  /** Of A, of B, and the difference. */
  readonly cells: readonly { readonly text: string; readonly title?: string }[];
}

function textRow(name: string, a: string, b: string): FactRow {
  const differs = a !== b;
  const cells = [a, b, differs ? 'differs' : ''].map((text) => ({ text, title: text }));
  return { name, differs, cells };
}

/** @param sides whose peaks these are */
function bytesRow(
  name: string,
  bytesA: number,
  bytesB: number,
  [a, b]: readonly Pick<RunProfile, 'recording'>[] = [],
): FactRow {
  const difference = bytesB - bytesA;
  const differs = difference !== 0;
  const texts = [
    peakText(bytesA, a?.recording),
    peakText(bytesB, b?.recording),
    differs ? signedBytes(difference) : '',
  ];
  const cells = [bytesA, bytesB, difference].map((bytes, at) => ({
    text: texts[at] ?? '',
    title: formatExactBytes(bytes),
  }));
  return { name, differs, cells };
}

interface FactsProps {
  readonly title: string;
  readonly label?: string;
  /** The heading of the names. */
  readonly of?: string;
  readonly rows: readonly FactRow[];
}

function Facts({ title, label, of = '', rows }: FactsProps) {
  return (
    <table className="compare-facts-table" aria-label={label}>
      <caption>{title}</caption>
      <TableHead labels={[of, 'A', 'B', 'Difference']} />
      <tbody>
        {rows.map(({ name, differs, cells }) => (
          <tr key={name} data-differs={differs}>
            <th scope="row">{name}</th>
            {cells.map(({ text, title }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: A, B and the difference
              <td key={at} title={title}>
                {text}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const settingOf = ({ settings }: RunProfile, name: string): string => {
  const value = settings[name];
  return value === undefined ? 'not recorded' : settingText(value);
};

const RECORDINGS: Readonly<Record<RunProfile['recording'], string>> = {
  complete: 'whole',
  preexisting: 'began late',
  truncated: 'the beginning is lost',
  none: 'no history',
};

const recordingText = ({ recording, file }: RunProfile): string =>
  file.partial === undefined
    ? RECORDINGS[recording]
    : `${RECORDINGS[recording]}, read up to the damage`;

const RECORDING_FACTS: readonly (readonly [name: string, textOf: (run: RunProfile) => string])[] = [
  ['File', ({ file }) => file.name],
  ['Device', deviceTitle],
  ['Recording', recordingText],
  ['Events', ({ events }) => formatCount(events)],
  [
    'Steps',
    ({ stepBounds }) => (stepBounds.length > 1 ? formatCount(stepBounds.length - 1) : 'not found'),
  ],
  ['Out of memory', ({ ooms }) => formatCount(ooms)],
  ['Python', pythonText],
  ['C++ frames', ({ hasCpp }) => (hasCpp ? 'recorded' : 'no')],
];

/** Python's version is in the paths of its own files. No snapshot names PyTorch's version. */
function pythonText({ frames }: RunProfile): string {
  for (const { filename } of frames) {
    const version = /[\\/]python(\d\.\d+)t?[\\/]/.exec(filename)?.[1];
    if (version !== undefined) return version;
  }
  return 'not known';
}

function FactsPage({ children }: { readonly children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it holds nothing focusable, and keys must scroll it
    <section className="compare-facts" aria-label="Figures" tabIndex={0}>
      {children}
    </section>
  );
}

const RECORDED = 'as recorded';

interface WhatIfTableProps {
  readonly a: OpenSide;
  readonly b: OpenSide;
}

export function WhatIfTable(sides: WhatIfTableProps) {
  const reason = whyNotSimulated(sides.a.device) ?? whyNotSimulated(sides.b.device);
  if (reason === undefined) return <WhatIfRows {...sides} />;
  return <Blank title="What if is not available for these devices" text={reason} />;
}

function WhatIfRows({ a, b }: WhatIfTableProps) {
  const failure = useRuns(a, b);
  const knownA = useStore(whatIfStoreOf(a.device));
  const knownB = useStore(whatIfStoreOf(b.device));
  const rows = [RECORDED, ...PRESETS].map((setting) => {
    const [ofA, ofB] = [runOf(knownA, setting), runOf(knownB, setting)];
    const difference = ofA && ofB && signedBytes(ofB.peakReservedBytes - ofA.peakReservedBytes);
    const texts = [ofA?.text ?? '…', ofB?.text ?? '…', difference ?? ''];
    const name = setting === '' ? '(default)' : setting;
    return { name, differs: true, cells: texts.map((text) => ({ text })) };
  });
  return (
    <FactsPage>
      <Facts
        title="Peak reserved memory of both, as recorded and simulated under other allocator settings"
        label="Peak reserved memory by setting"
        of="Setting"
        rows={rows}
      />
      {failure !== undefined && <p role="alert">{failure}</p>}
    </FactsPage>
  );
}

function runOf(known: WhatIfResults, setting: string) {
  const { recorded } = known;
  const result = resultOf(known, 'recorded', setting);
  const ooms = setting === RECORDED ? recorded?.ooms : result?.ooms.length;
  const { peakReservedBytes } = (setting === RECORDED ? recorded : result) ?? {};
  if (peakReservedBytes === undefined || ooms === undefined) return undefined;
  const text = `${formatBytes(peakReservedBytes)}${ooms > 0 ? `, ${formatCount(ooms)} OOM` : ''}`;
  return { peakReservedBytes, text };
}

/** Runs one file after the other, because each copies its device into a worker. Returns why it failed. */
function useRuns(a: OpenSide, b: OpenSide): string | undefined {
  const { idle } = useServices();
  const [failure, setFailure] = useState<string>();
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    setFailure(undefined);
    async function runBoth(): Promise<void> {
      for (const { session, device } of [a, b]) {
        if (signal.aborted) return;
        const analysis = createAnalysisClient({ session, idle });
        try {
          await runMissing(analysis, device, PRESETS, { signal });
        } finally {
          analysis.close();
        }
      }
    }
    runBoth().catch((error: unknown) => signal.aborted || setFailure(errorText(error)));
    return () => controller.abort();
  }, [a, b, idle]);
  return failure;
}

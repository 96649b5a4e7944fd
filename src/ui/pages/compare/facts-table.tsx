import { type ReactNode, useEffect, useState } from 'react';
import { PRESETS } from '../../../allocator/simulator/presets.ts';
import { entryName, signedBytes } from '../../../analysis/compare/change-text.ts';
import type { RunProfile } from '../../../analysis/compare/types.ts';
import { isAbortError } from '../../../base/errors.ts';
import { formatBytes, formatCount, formatExactBytes } from '../../../base/format.ts';
import { settingText } from '../../../device/memory-summary/settings.ts';
import type { IdleCounter } from '../../../state/page-timings.ts';
import { createAnalysisClient } from '../../../worker/analysis/client.ts';
import { COUNTERS, deviceLabel } from '../../shared/device-labels.ts';
import { Bytes, TableHead } from '../../shared/facts.tsx';
import { useServices } from '../../shared/services.ts';
import type { ComparedPair, OpenSide } from './sides.tsx';

export function FactsTable({ compared }: { readonly compared: ComparedPair }) {
  const { a, b, comparison } = compared;
  const names = [...new Set([...Object.keys(a.settings), ...Object.keys(b.settings)])];
  const differs = (name: string) => settingOf(a, name) !== settingOf(b, name);
  const settings = [...names.filter(differs), ...names.filter((name) => !differs(name))];
  return (
    <div className="compare-facts">
      <Facts title="Memory by entry">
        {comparison.entries.map((entry) => (
          <BytesRow
            key={entryName(entry)}
            name={entryName(entry)}
            bytesA={entry.bytesA}
            bytesB={entry.bytesB}
          />
        ))}
      </Facts>
      <Facts title="Peaks of the counters">
        {COUNTERS.map(({ name, label }) => (
          <BytesRow key={name} name={label} bytesA={a.peak[name]} bytesB={b.peak[name]} />
        ))}
      </Facts>
      <Facts title="Recordings">
        {RECORDING_FACTS.map(([name, textOf]) => (
          <Row key={name} name={name} a={textOf(a)} b={textOf(b)} />
        ))}
      </Facts>
      <Facts title="Allocator settings">
        {settings.map((name) => (
          <Row key={name} name={name} a={settingOf(a, name)} b={settingOf(b, name)} />
        ))}
      </Facts>
    </div>
  );
}

function Facts({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <table className="compare-facts-table">
      <caption>{title}</caption>
      <TableHead labels={['', 'A', 'B', 'Difference']} />
      <tbody>{children}</tbody>
    </table>
  );
}

interface RowProps {
  readonly name: string;
  readonly a: string;
  readonly b: string;
}

function Row({ name, a, b }: RowProps) {
  return (
    <tr data-differs={a !== b}>
      <th scope="row">{name}</th>
      <td title={a}>{a}</td>
      <td title={b}>{b}</td>
      <td>{a === b ? '' : 'differs'}</td>
    </tr>
  );
}

interface BytesRowProps {
  readonly name: string;
  readonly bytesA: number;
  readonly bytesB: number;
}

function BytesRow({ name, bytesA, bytesB }: BytesRowProps) {
  const difference = bytesB - bytesA;
  return (
    <tr data-differs={difference !== 0}>
      <th scope="row">{name}</th>
      <Bytes as="td" bytes={bytesA} />
      <Bytes as="td" bytes={bytesB} />
      <td title={formatExactBytes(difference)}>
        {difference === 0 ? '' : signedBytes(difference)}
      </td>
    </tr>
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
    : `${RECORDINGS[recording]}, read up to a fault`;

const RECORDING_FACTS: readonly (readonly [name: string, textOf: (run: RunProfile) => string])[] = [
  ['File', ({ file }) => file.name],
  ['Device', deviceLabel],
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

const RECORDED = 'as recorded';

export function WhatIfTable({ a, b }: { readonly a: OpenSide; readonly b: OpenSide }) {
  const { runs, failure } = useRuns(a, b);
  return (
    <div className="compare-facts">
      <table className="compare-facts-table" aria-label="Peak reserved memory by setting">
        <caption>
          Peak reserved memory of both, as recorded and simulated under other allocator settings
        </caption>
        <TableHead labels={['Setting', 'A', 'B', 'Difference']} />
        <tbody>
          {[RECORDED, ...PRESETS].map((setting) => {
            const [ofA, ofB] = [runs.get(`A ${setting}`), runs.get(`B ${setting}`)];
            const difference = ofA && ofB && ofB.peakReservedBytes - ofA.peakReservedBytes;
            return (
              <tr key={setting}>
                <th scope="row">{setting === '' ? '(default)' : setting}</th>
                <td>{runText(ofA)}</td>
                <td>{runText(ofB)}</td>
                <td>{difference === undefined ? '' : signedBytes(difference)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {failure !== undefined && <p role="alert">{failure}</p>}
    </div>
  );
}

interface Run {
  readonly peakReservedBytes: number;
  readonly ooms: number;
}

function runText(run: Run | undefined): string {
  if (run === undefined) return '…';
  const { peakReservedBytes, ooms } = run;
  return `${formatBytes(peakReservedBytes)}${ooms > 0 ? `, ${formatCount(ooms)} OOM` : ''}`;
}

interface Runs {
  /** By side and setting: 'A expandable_segments:True'. */
  readonly runs: ReadonlyMap<string, Run>;
  readonly failure: string | undefined;
}

const NO_RUNS: Runs = { runs: new Map(), failure: undefined };

/** Runs one file after the other, because each copies its device into a worker. */
function useRuns(a: OpenSide, b: OpenSide): Runs {
  const { idle } = useServices();
  const [state, setState] = useState(NO_RUNS);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    setState(NO_RUNS);
    async function runBoth(): Promise<void> {
      for (const side of [a, b]) {
        await runSide(side, idle, signal, (setting, { peakReservedBytes, ooms }) => {
          const entry = [`${side.letter} ${setting}`, { peakReservedBytes, ooms }] as const;
          if (!signal.aborted)
            setState(({ runs, failure }) => ({ runs: new Map([...runs, entry]), failure }));
        });
      }
    }
    runBoth().catch((error: unknown) => {
      if (signal.aborted || isAbortError(error)) return;
      setState(({ runs }) => ({ runs, failure: String(error) }));
    });
    return () => controller.abort();
  }, [a, b, idle]);
  return state;
}

async function runSide(
  { session, device }: OpenSide,
  idle: IdleCounter,
  signal: AbortSignal,
  add: (setting: string, run: Run) => void,
): Promise<void> {
  if (device.events === 0 || signal.aborted) return;
  const analysis = createAnalysisClient({ session, idle });
  const request = { settings: PRESETS, limit: 'recorded', cards: [] } as const;
  try {
    await analysis.query(
      'whatIf',
      { ...request, deviceIndex: device.index },
      {
        signal,
        onProgress(progress) {
          if (progress.kind === 'recorded') add(RECORDED, progress.recorded);
          if (progress.kind !== 'case') return;
          const { settings, ooms } = progress.result;
          add(settings, { ...progress.result, ooms: ooms.length });
        },
      },
    );
  } finally {
    analysis.close();
  }
}

import { useEffect, useState } from 'react';
import { PRESETS } from '../../../allocator/simulator/presets.ts';
import { signedBytes } from '../../../analysis/compare/change-text.ts';
import { isAbortError } from '../../../base/errors.ts';
import { formatBytes, formatCount } from '../../../base/format.ts';
import type { IdleCounter } from '../../../state/page-timings.ts';
import { createAnalysisClient } from '../../../worker/analysis/client.ts';
import { TableHead } from '../../shared/facts.tsx';
import { useServices } from '../../shared/services.ts';
import type { OpenSide } from './sides.tsx';

interface Run {
  readonly peakReservedBytes: number;
  readonly ooms: number;
}

/** By setting; '' is the recorded one. */
type Runs = ReadonlyMap<string, Run>;

const NO_RUNS: Runs = new Map();
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
          {[RECORDED, ...PRESETS].map((setting) => (
            <SettingRow
              key={setting}
              setting={setting}
              a={runs.a.get(setting)}
              b={runs.b.get(setting)}
            />
          ))}
        </tbody>
      </table>
      {failure !== undefined && <p role="alert">{failure}</p>}
    </div>
  );
}

interface SettingRowProps {
  readonly setting: string;
  readonly a: Run | undefined;
  readonly b: Run | undefined;
}

function SettingRow({ setting, a, b }: SettingRowProps) {
  const difference = a && b && b.peakReservedBytes - a.peakReservedBytes;
  return (
    <tr>
      <th scope="row">{setting === '' ? '(default)' : setting}</th>
      <td>{runText(a)}</td>
      <td>{runText(b)}</td>
      <td>{difference === undefined ? '' : signedBytes(difference)}</td>
    </tr>
  );
}

function runText(run: Run | undefined): string {
  if (run === undefined) return '…';
  const { peakReservedBytes, ooms } = run;
  return `${formatBytes(peakReservedBytes)}${ooms > 0 ? `, ${formatCount(ooms)} OOM` : ''}`;
}

interface BothRuns {
  readonly runs: { readonly a: Runs; readonly b: Runs };
  readonly failure: string | undefined;
}

/** Runs one file after the other, because each copies its device into a worker. */
function useRuns(a: OpenSide, b: OpenSide): BothRuns {
  const { idle } = useServices();
  const [state, setState] = useState<BothRuns>({
    runs: { a: NO_RUNS, b: NO_RUNS },
    failure: undefined,
  });
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const add = (of: 'a' | 'b') => (setting: string, run: Run) => {
      if (signal.aborted) return;
      setState(({ runs, failure }) => ({
        runs: { ...runs, [of]: new Map([...runs[of], [setting, run]]) },
        failure,
      }));
    };
    setState({ runs: { a: NO_RUNS, b: NO_RUNS }, failure: undefined });
    const runBoth = async () => {
      await runSide(a, idle, signal, add('a'));
      await runSide(b, idle, signal, add('b'));
    };
    runBoth().catch((error: unknown) => {
      if (signal.aborted || isAbortError(error)) return;
      setState((before) => ({ ...before, failure: String(error) }));
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
  const request = {
    deviceIndex: device.index,
    settings: PRESETS,
    limit: 'recorded' as const,
    cards: false,
  };
  try {
    await analysis.query('whatIf', request, {
      signal,
      onProgress(progress) {
        if (progress.kind === 'recorded') {
          const { peakReservedBytes, ooms } = progress.recorded.run;
          add(RECORDED, { peakReservedBytes, ooms });
        }
        if (progress.kind === 'case') {
          const { settings, peakReservedBytes, ooms } = progress.result;
          add(settings, { peakReservedBytes, ooms: ooms.length });
        }
      },
    });
  } finally {
    analysis.close();
  }
}

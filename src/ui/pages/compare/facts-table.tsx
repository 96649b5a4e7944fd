import type { ReactNode } from 'react';
import { entryName, signedBytes } from '../../../analysis/compare/change-text.ts';
import type { RunProfile } from '../../../analysis/compare/types.ts';
import { formatCount, formatExactBytes } from '../../../base/format.ts';
import { settingText } from '../../../device/memory-summary/settings.ts';
import { COUNTERS, deviceLabel } from '../../shared/device-labels.ts';
import { Bytes } from '../../shared/facts.tsx';
import type { ComparedPair } from './sides.tsx';

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
        <Row name="File" a={a.file.name} b={b.file.name} />
        <Row name="Device" a={deviceLabel(a)} b={deviceLabel(b)} />
        <Row name="Recording" a={recordingText(a)} b={recordingText(b)} />
        <Row name="Events" a={formatCount(a.events)} b={formatCount(b.events)} />
        <Row name="Steps" a={stepsText(a)} b={stepsText(b)} />
        <Row name="Out of memory" a={formatCount(a.ooms)} b={formatCount(b.ooms)} />
        <Row name="Python" a={pythonText(a)} b={pythonText(b)} />
        <Row name="C++ frames" a={a.hasCpp ? 'recorded' : 'no'} b={b.hasCpp ? 'recorded' : 'no'} />
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
      <thead>
        <tr>
          <th scope="col" aria-label="What" />
          <th scope="col">A</th>
          <th scope="col">B</th>
          <th scope="col">Difference</th>
        </tr>
      </thead>
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

const stepsText = ({ stepBounds }: RunProfile): string =>
  stepBounds.length > 1 ? formatCount(stepBounds.length - 1) : 'not found';

/** Python's version is in the paths of its own files. No snapshot names PyTorch's version. */
function pythonText({ frames }: RunProfile): string {
  for (const { filename } of frames) {
    const version = /[\\/]python(\d\.\d+)t?[\\/]/.exec(filename)?.[1];
    if (version !== undefined) return version;
  }
  return 'not known';
}

import { useMemo } from 'react';
import { type SettingRow, settingRows } from '../../../device/memory-summary/settings.ts';
import { useDevice } from '../../shared/device-context.ts';
import { TableHead } from '../../shared/table-head.tsx';
import { SectionHead } from './section.tsx';

/** The allocator's settings; those that are not PyTorch's defaults first, and marked. */
export function SettingsSection() {
  const { info } = useDevice();
  const rows = useMemo(() => settingRows(info.settings), [info.settings]);
  const changed = rows.filter(({ isDefault }) => isDefault !== true).length;
  return (
    <section aria-label="Allocator settings" className="summary-section">
      <SectionHead title="Allocator settings">
        <span className="dim">{rows.length > 0 && changedText(changed)}</span>
      </SectionHead>
      {rows.length === 0 ? (
        <p className="dim">
          This file has no settings; PyTorch 2.3 and later write them. Rounding and splitting are
          assumed to be the defaults.
        </p>
      ) : (
        <table className="summary-table summary-settings">
          <TableHead labels={['Setting', 'Recorded', 'PyTorch’s default', 'What it does']} />
          <tbody>
            {rows.map((row) => (
              <Setting key={row.name} row={row} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function changedText(changed: number): string {
  if (changed === 0) return 'all at PyTorch’s defaults';
  return changed === 1 ? '1 differs from the default' : `${changed} differ from the defaults`;
}

function Setting({ row }: { readonly row: SettingRow }) {
  const { name, value, defaultValue, isDefault, about, source } = row;
  return (
    <tr data-changed={isDefault === true ? undefined : true}>
      <th scope="row" className="mono">
        {name}
      </th>
      <td className="mono">
        {value}
        {isDefault === false && <span className="chip">changed</span>}
      </td>
      <td className="mono" title={source === '' ? undefined : `From ${source}`}>
        {defaultValue ?? 'unknown'}
      </td>
      <td>{about === '' ? <span className="dim">a key that is not known here</span> : about}</td>
    </tr>
  );
}

import '../../shared/text-area.css';
import { Download } from 'lucide-react';
import { useId, useState } from 'react';
import { formatBytes } from '../../../base/format.ts';
import { useView } from '../../../state/stores.ts';
import { useDevice } from '../../shared/device-context.ts';
import { useQuery } from '../../shared/use-query.ts';
import { type ExportState, useExportReport } from './use-export-report.ts';

/** What goes into the report, and what must not. */
export function ReportForm() {
  const { info } = useDevice();
  const notesId = useId();
  const isZoomed = useView((view) => view.x !== 'all');
  const [notes, setNotes] = useState('');
  const [isPart, setIsPart] = useState(false);
  const [isShortPaths, setIsShortPaths] = useState(false);
  const [isWithoutStacks, setIsWithoutStacks] = useState(false);
  const [isWithoutHolders, setIsWithoutHolders] = useState(false);
  const hasHolders = (useQuery('searchValues', {}).value?.holder?.length ?? 0) > 0;
  const { state, start } = useExportReport();
  return (
    <form
      className="column"
      onSubmit={(event) => {
        event.preventDefault();
        void start({
          notes,
          isPart: isPart && isZoomed,
          isShortPaths,
          isWithoutStacks,
          isWithoutHolders,
        });
      }}
    >
      <p className="dim">
        One HTML file with {info.devices.length > 1 ? 'this device of ' : ''}
        {info.file.name} inside. It opens in any browser, offline, at this view.
      </p>
      <label htmlFor={notesId}>Notes for the reader</label>
      <textarea
        id={notesId}
        rows={3}
        value={notes}
        placeholder="What you tried, what you want to know"
        onChange={(event) => setNotes(event.target.value)}
      />
      <Choice isOn={isPart && isZoomed} isDisabled={!isZoomed} onChange={setIsPart}>
        Only the events in view{!isZoomed && ' (zoom in first)'}
      </Choice>
      <Choice isOn={isShortPaths} onChange={setIsShortPaths}>
        Shorten paths to their last two parts
      </Choice>
      <Choice isOn={isWithoutStacks} onChange={setIsWithoutStacks}>
        Omit all call stacks
      </Choice>
      {hasHolders && (
        <Choice isOn={isWithoutHolders} onChange={setIsWithoutHolders}>
          Omit the names of the variables that hold memory
        </Choice>
      )}
      <div className="report-actions">
        <button type="submit" className="button button-primary" disabled={state.kind === 'working'}>
          <Download size={14} aria-hidden />
          Export report
        </button>
        <Outcome state={state} />
      </div>
    </form>
  );
}

interface ChoiceProps {
  readonly isOn: boolean;
  readonly isDisabled?: boolean;
  readonly onChange: (isOn: boolean) => void;
  readonly children: React.ReactNode;
}

function Choice({ isOn, isDisabled = false, onChange, children }: ChoiceProps) {
  return (
    <label className="inline-row">
      <input
        type="checkbox"
        checked={isOn}
        disabled={isDisabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span>{children}</span>
    </label>
  );
}

function Outcome({ state }: { readonly state: ExportState }) {
  return (
    <p className="dim" role={state.kind === 'failed' ? 'alert' : 'status'}>
      {state.kind === 'working' && 'Packing…'}
      {state.kind === 'done' &&
        `${state.name}, ${formatBytes(state.bytes)}, saved to your downloads.`}
      {state.kind === 'failed' && state.reason}
    </p>
  );
}

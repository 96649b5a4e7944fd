import { Maximize2 } from 'lucide-react';
import type { DeviceInfo } from '../../device/model/device-info.ts';
import type { TimeAxis } from '../../draw/timeline/types.ts';
import { useStores, useView } from '../../state/stores.ts';
import { useDevice } from '../shared/services.ts';
import type { PlotSource } from './plot-source.ts';

interface AxisChoice {
  readonly axis: TimeAxis;
  readonly foldsGaps: boolean;
  readonly label: string;
  readonly about: string;
}

const AXES: readonly AxisChoice[] = [
  {
    axis: 'event',
    foldsGaps: false,
    label: 'Events',
    about: 'Every event is equally wide: best to see what the allocator did',
  },
  {
    axis: 'time',
    foldsGaps: false,
    label: 'Time',
    about: 'True to time: best to see how long things took',
  },
  {
    axis: 'time',
    foldsGaps: true,
    label: 'Folded',
    about: 'Time with idle gaps cut short: best where startup or waiting fills the picture',
  },
];

/** Chooses the x axis. @param canFold false for a plot that draws only true time */
export function AxisSwitch({ canFold = true }: { readonly canFold?: boolean }) {
  const { device } = useDevice();
  const { view } = useStores();
  const current = useView((state) => state.axis);
  const isFolded = useView((state) => state.foldsGaps);
  return (
    <fieldset className="segmented" aria-label="Horizontal axis">
      {AXES.filter(({ foldsGaps }) => canFold || !foldsGaps).map(
        ({ axis, foldsGaps, label, about }) => {
          const reason = unavailableReason(device, axis, foldsGaps);
          const isOn = current === axis && (axis === 'event' || !canFold || isFolded === foldsGaps);
          return (
            <button
              key={label}
              type="button"
              aria-pressed={isOn}
              disabled={reason !== undefined && !isOn}
              title={`${reason ?? about} (X)`}
              // The same window serves true and folded time.
              onClick={() =>
                view.commit({ axis, foldsGaps, ...(current !== axis && { x: 'all' }) })
              }
            >
              {label}
            </button>
          );
        },
      )}
    </fieldset>
  );
}

function unavailableReason(
  { hasTime, folds }: DeviceInfo,
  axis: TimeAxis,
  foldsGaps: boolean,
): string | undefined {
  if (axis === 'time' && !hasTime) return 'This file has no timestamps';
  return foldsGaps && folds.fromUs.length === 0 ? 'This trace has no idle gaps' : undefined;
}

/** @param field of the view that keeps the plot's y */
export function FitButton({ field = 'y' }: { readonly field?: PlotSource['yField'] }) {
  const { view } = useStores();
  return (
    <button
      type="button"
      className="button"
      title="Show the whole trace (F)"
      onClick={() =>
        view.commit({ x: 'all', ...(field === 'y' ? { y: 'fit' } : { addresses: 'fit' }) })
      }
    >
      <Maximize2 size={13} aria-hidden />
      Fit
    </button>
  );
}

interface ColorKeyProps {
  readonly label: string;
  readonly entries: readonly { readonly label: string; readonly color: string }[];
}

export function ColorKey({ label, entries }: ColorKeyProps) {
  return (
    <ul className="color-key" aria-label={label}>
      {entries.map((entry) => (
        <li key={entry.label}>
          <span className="swatch" style={{ background: entry.color }} aria-hidden />
          {entry.label}
        </li>
      ))}
    </ul>
  );
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  /** The label of each option, in order. */
  readonly texts: Readonly<Record<T, string>>;
  readonly value: T;
  readonly title?: string | undefined;
  /** Why an option can't be chosen; undefined if it can. */
  readonly reasonOf?: (value: T) => string | undefined;
  readonly onChoose: (value: T) => void;
}

export function Choice<T extends string>(props: ChoiceProps<T>) {
  const { label, texts, value, title, reasonOf, onChoose } = props;
  const options = Object.keys(texts) as T[];
  return (
    <label className="inline-row labelled" title={title}>
      <span className="dim">{label}</span>
      <select
        className="field"
        value={value}
        onChange={({ currentTarget }) => {
          const chosen = options.find((option) => option === currentTarget.value);
          if (chosen !== undefined) onChoose(chosen);
        }}
      >
        {options.map((option) => {
          const reason = reasonOf?.(option);
          return (
            <option key={option} value={option} disabled={reason !== undefined}>
              {reason === undefined ? texts[option] : `${texts[option]} (${reason})`}
            </option>
          );
        })}
      </select>
    </label>
  );
}

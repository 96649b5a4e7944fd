import { Maximize2 } from 'lucide-react';
import type { DeviceInfo } from '../../device/model/device-info.ts';
import { useStores, useView } from '../../state/stores.ts';
import type { ViewState } from '../../state/view-store.ts';
import { Button, Segmented, Select } from '../shared/buttons.tsx';
import { useDevice } from '../shared/services.ts';
import type { PlotSource } from './plot-source.ts';

const AXES = {
  Events: {
    axis: 'event',
    foldsGaps: false,
    about: 'Every event is equally wide: best to see what the allocator did',
  },
  Time: {
    axis: 'time',
    foldsGaps: false,
    about: 'True to time: best to see how long things took',
  },
  Folded: {
    axis: 'time',
    foldsGaps: true,
    about: 'Time with idle gaps cut short: best where startup or waiting fills the picture',
  },
} as const;

type AxisName = keyof typeof AXES;
const AXIS_NAMES = Object.keys(AXES) as readonly AxisName[];

function axisNameOf({ axis, foldsGaps }: Pick<ViewState, 'axis' | 'foldsGaps'>): AxisName {
  if (axis === 'event') return 'Events';
  return foldsGaps ? 'Folded' : 'Time';
}

/** The same window serves true and folded time. */
function toAxis(name: AxisName, before: ViewState): Partial<ViewState> {
  const { axis, foldsGaps } = AXES[name];
  return { axis, foldsGaps, ...(before.axis !== axis && { x: 'all' }) };
}

function unavailableReason({ hasTime, folds }: DeviceInfo, name: AxisName): string | undefined {
  if (name !== 'Events' && !hasTime) return 'This file has no timestamps';
  const hasGaps = folds.fromUs.length > 0;
  return name === 'Folded' && !hasGaps ? 'This trace has no idle gaps' : undefined;
}

/** The change to the next axis that the file has; undefined if it has only one. */
export function toNextAxis(view: ViewState, device: DeviceInfo): Partial<ViewState> | undefined {
  const names = AXIS_NAMES.filter((name) => unavailableReason(device, name) === undefined);
  const next = names[(names.indexOf(axisNameOf(view)) + 1) % names.length];
  return names.length < 2 || next === undefined ? undefined : toAxis(next, view);
}

export function AxisSwitch() {
  const { device } = useDevice();
  const { view } = useStores();
  const value = useView(axisNameOf);
  const options = AXIS_NAMES.map((name) => {
    const reason = unavailableReason(device, name);
    const isDisabled = reason !== undefined && name !== value;
    return { value: name, label: name, about: `${reason ?? AXES[name].about} (X)`, isDisabled };
  });
  return (
    <Segmented
      label="Horizontal axis"
      value={value}
      options={options}
      onChange={(name) => view.commit(toAxis(name, view.getState().view))}
    />
  );
}

/** @param field of the view that keeps the plot's y */
export function FitButton({ field = 'y' }: { readonly field?: PlotSource['yField'] }) {
  const { view } = useStores();
  return (
    <Button
      icon={Maximize2}
      title="Show the whole trace (F)"
      onClick={() => view.commit({ x: 'all', [field]: 'fit' })}
    >
      Fit
    </Button>
  );
}

interface ColorKeyProps {
  readonly label: string;
  readonly entries: readonly {
    readonly label: string;
    readonly color: string;
    readonly title?: string | undefined;
  }[];
}

export function ColorKey({ label, entries }: ColorKeyProps) {
  return (
    <ul className="color-key" aria-label={label}>
      {entries.map((entry) => (
        <li key={entry.label} title={entry.title}>
          <span className="swatch" style={{ background: entry.color }} aria-hidden />
          {entry.label}
        </li>
      ))}
    </ul>
  );
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly texts: Readonly<Record<T, string>>;
  readonly value: T;
  readonly title?: string | undefined;
  /** Why an option can't be chosen; undefined if it can. */
  readonly reasonOf?: ((value: T) => string | undefined) | undefined;
  readonly onChoose: (value: T) => void;
}

export function Choice<T extends string>(props: ChoiceProps<T>) {
  const { label, texts, value, title, reasonOf, onChoose } = props;
  const options = (Object.keys(texts) as T[]).map((option) => {
    const reason = reasonOf?.(option);
    const text = reason === undefined ? texts[option] : `${texts[option]} (${reason})`;
    return { value: option, label: text, isDisabled: reason !== undefined };
  });
  return (
    <label className="inline-row labeled" title={title}>
      <span className="dim">{label}</span>
      <Select value={value} options={options} onChoose={onChoose} />
    </label>
  );
}

import { ArrowDownToLine, ArrowUpToLine } from 'lucide-react';
import type { ReactNode } from 'react';
import type { FlameView } from '../../state/view-store.ts';
import {
  DATASET_TEXT,
  FRAMES_TEXT,
  GROUPING_TEXT,
  WEIGHT_TEXT,
  WEIGHT_TITLE,
} from './flame-labels.ts';

interface FlameToolbarProps {
  readonly flame: FlameView;
  readonly onChange: (change: Partial<FlameView>) => void;
}

const OFS: readonly FlameView['dataset'][] = ['peak', 'cursor', 'end', 'window', 'difference'];
const WEIGHTS: readonly FlameView['weight'][] = ['bytes', 'allocated', 'count', 'lifetime'];
const GROUPINGS: readonly FlameView['groupBy'][] = ['line', 'stack', 'function', 'file', 'module'];
const FRAMES: readonly FlameView['frames'][] = ['own', 'known', 'all'];

/** What is added up and how. Another grouping has other boxes: what was zoomed into is gone. */
export function FlameToolbar({ flame, onChange }: FlameToolbarProps) {
  return (
    <div className="toolbar-row flame-toolbar">
      <Choice
        label="Show"
        options={OFS}
        texts={DATASET_TEXT}
        value={flame.dataset}
        onChoose={(of) => onChange({ dataset: of })}
      />
      <Choice
        label="in"
        options={WEIGHTS}
        texts={WEIGHT_TEXT}
        value={flame.weight}
        title={WEIGHT_TITLE[flame.weight]}
        onChoose={(weight) => onChange({ weight })}
      />
      <Choice
        label="by"
        options={GROUPINGS}
        texts={GROUPING_TEXT}
        value={flame.groupBy}
        onChoose={(by) => onChange({ groupBy: by, root: undefined })}
      />
      <Choice
        label="Frames"
        options={FRAMES}
        texts={FRAMES_TEXT}
        value={flame.frames}
        title="Frames without a box pass what they hold to their caller"
        onChoose={(frames) => onChange({ frames, root: undefined })}
      />
      <fieldset className="segmented" aria-label="Direction">
        <DirectionButton
          isPressed={!flame.inverted}
          title="From callers down to what they called"
          onClick={() => onChange({ inverted: false, root: undefined })}
        >
          <ArrowDownToLine size={13} aria-hidden />
          Callers
        </DirectionButton>
        <DirectionButton
          isPressed={flame.inverted}
          title="From the innermost frames to their callers"
          onClick={() => onChange({ inverted: true, root: undefined })}
        >
          <ArrowUpToLine size={13} aria-hidden />
          Callees
        </DirectionButton>
      </fieldset>
    </div>
  );
}

interface DirectionButtonProps {
  readonly isPressed: boolean;
  readonly title: string;
  readonly onClick: () => void;
  readonly children: ReactNode;
}

function DirectionButton({ isPressed, title, onClick, children }: DirectionButtonProps) {
  return (
    <button type="button" aria-pressed={isPressed} title={title} onClick={onClick}>
      {children}
    </button>
  );
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly options: readonly T[];
  readonly texts: Readonly<Record<T, string>>;
  readonly value: T;
  readonly title?: string;
  readonly onChoose: (value: T) => void;
}

function Choice<T extends string>(props: ChoiceProps<T>) {
  const { label, options, texts, value, title, onChoose } = props;
  return (
    <label className="labelled" title={title}>
      <span className="dim">{label}</span>
      <select
        className="select"
        value={value}
        onChange={({ currentTarget }) => {
          const chosen = options.find((option) => option === currentTarget.value);
          if (chosen !== undefined) onChoose(chosen);
        }}
      >
        {options.map((option) => (
          <option key={option} value={option}>
            {texts[option]}
          </option>
        ))}
      </select>
    </label>
  );
}

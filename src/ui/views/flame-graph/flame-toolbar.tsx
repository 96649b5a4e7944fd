import { ArrowDownToLine, ArrowUpToLine, ChevronRight } from 'lucide-react';
import type { FlameStep } from '../../../device/flame-graph/types.ts';
import type { FlameView } from '../../../state/view-store.ts';
import { Segmented } from '../../shared/buttons.tsx';
import {
  DATASET_TEXT,
  FRAMES_TEXT,
  GROUPING_TEXT,
  groupLabel,
  groupPlace,
  WEIGHT_TEXT,
  WEIGHT_TITLE,
} from './flame-labels.ts';

interface FlameToolbarProps {
  readonly flame: FlameView;
  readonly onChange: (change: Partial<FlameView>) => void;
}

const OFS: readonly FlameView['dataset'][] = ['peak', 'cursor', 'end', 'window', 'difference'];
const WEIGHTS: readonly FlameView['weight'][] = ['bytes', 'allocated', 'count', 'lifetime'];
const GROUPINGS: readonly FlameView['groupBy'][] = [
  'line',
  'class',
  'stack',
  'function',
  'file',
  'module',
];
const FRAMES: readonly FlameView['frames'][] = ['own', 'known', 'all'];
const DIRECTIONS = [
  {
    value: 'callers',
    label: 'Callers',
    about: 'From callers down to what they called',
    icon: ArrowDownToLine,
  },
  {
    value: 'callees',
    label: 'Callees',
    about: 'From innermost frames up to their callers',
    icon: ArrowUpToLine,
  },
] as const;

/** What is added up and how. Another grouping has other boxes: what was zoomed into is gone. */
export function FlameToolbar({ flame, onChange }: FlameToolbarProps) {
  return (
    <div className="row toolbar-row flame-toolbar">
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
        title="Hidden frames pass their memory to their caller"
        onChoose={(frames) => onChange({ frames, root: undefined })}
      />
      <Segmented
        label="Direction"
        value={flame.inverted ? 'callees' : 'callers'}
        options={DIRECTIONS}
        onChange={(root) => onChange({ inverted: root === 'callees', root: undefined })}
      />
    </div>
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
        {options.map((option) => (
          <option key={option} value={option}>
            {texts[option]}
          </option>
        ))}
      </select>
    </label>
  );
}

interface FlameTrailProps {
  readonly trail: readonly FlameStep[];
  /** Undefined: the whole. */
  readonly onZoom: (path: string | undefined) => void;
}

/** More steps than these do not fit; the ones left out are behind a button each. */
const STEPS_SHOWN = 4;

/** The way back from what is zoomed into. */
export function FlameTrail({ trail, onZoom }: FlameTrailProps) {
  // A line of its own also where it has no steps: zooming must not move what is pointed at.
  if (trail.length === 0) {
    return <p className="flame-trail">Click a box to zoom into it; arrow keys and Enter do too.</p>;
  }
  const left = Math.max(0, trail.length - STEPS_SHOWN);
  const lastLeft = trail[left - 1];
  return (
    <nav className="flame-trail" aria-label="Zoomed into">
      <button type="button" className="one-line flame-step" onClick={() => onZoom(undefined)}>
        All
      </button>
      {lastLeft !== undefined && (
        <>
          <ChevronRight size={12} aria-hidden />
          <button
            type="button"
            className="one-line flame-step"
            title={`${groupLabel(lastLeft.group)} ${groupPlace(lastLeft.group)}`}
            aria-label={`Up to ${groupLabel(lastLeft.group)}`}
            onClick={() => onZoom(lastLeft.path)}
          >
            … {left} more
          </button>
        </>
      )}
      {trail.slice(left).map(({ group, path }, index, shown) => (
        <span key={path} className="flame-step-place">
          <ChevronRight size={12} aria-hidden />
          <button
            type="button"
            className="one-line flame-step"
            title={`${groupLabel(group)} ${groupPlace(group)}`}
            aria-current={index === shown.length - 1 ? 'true' : undefined}
            onClick={() => onZoom(path)}
          >
            {groupLabel(group)}
          </button>
        </span>
      ))}
    </nav>
  );
}

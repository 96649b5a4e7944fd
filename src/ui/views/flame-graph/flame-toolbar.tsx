import { ArrowDownToLine, ArrowUpToLine, ChevronRight, Download } from 'lucide-react';
import type { ReactNode } from 'react';
import type { FlameStep } from '../../../device/flame-graph/flame-graph.ts';
import { NO_HOLDERS } from '../../../device/model/holders.ts';
import { useView } from '../../../state/stores.ts';
import type { FlameView } from '../../../state/view-store.ts';
import { Choice } from '../../plot/plot-controls.tsx';
import { Button, Segmented } from '../../shared/buttons.tsx';
import { useSaving } from '../../shared/saving.tsx';
import { useDevice } from '../../shared/services.ts';
import { useAsk } from '../../shared/use-query.ts';
import {
  DATASET_TEXT,
  exportName,
  FRAMES_TEXT,
  GROUPING_TEXT,
  groupLabel,
  groupName,
  groupPlace,
  WEIGHT_TEXT,
  WEIGHT_TITLE,
} from './flame-labels.ts';
import type { FlameQuery } from './use-flame.ts';

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

/** Other groups or frames are other boxes, so the zoom is reset. */
const HAS_OWN_BOXES: ReadonlySet<string> = new Set(['groupBy', 'frames']);
const WHOLE = { root: undefined };
const FRAMES_TITLE = 'Hidden frames pass their memory to their caller';

interface FlameToolbarProps {
  readonly flame: FlameView;
  readonly onChange: (change: Partial<FlameView>) => void;
}

export function FlameToolbar({ flame, onChange }: FlameToolbarProps) {
  const { device } = useDevice();
  const choice = <K extends 'dataset' | 'weight' | 'groupBy' | 'frames'>(
    field: K,
    label: string,
    texts: Readonly<Record<FlameView[K], string>>,
    title?: string,
    reasonOf?: (value: FlameView[K]) => string | undefined,
  ) => (
    <Choice
      label={label}
      texts={texts}
      value={flame[field]}
      title={title}
      reasonOf={reasonOf}
      onChoose={(chosen) => onChange({ [field]: chosen, ...(HAS_OWN_BOXES.has(field) && WHOLE) })}
    />
  );
  const reasonOf = (groupBy: FlameView['groupBy']) =>
    groupBy === 'holder' && !device.hasHolders ? NO_HOLDERS : undefined;
  return (
    <div className="row toolbar-row view-toolbar">
      {choice('dataset', 'Show', DATASET_TEXT)}
      {choice('weight', 'in', WEIGHT_TEXT, WEIGHT_TITLE[flame.weight])}
      {choice('groupBy', 'by', GROUPING_TEXT, reasonOf('holder'), reasonOf)}
      {flame.groupBy !== 'holder' && (
        <>
          {choice('frames', 'Frames', FRAMES_TEXT, FRAMES_TITLE)}
          {flame.sandwich === undefined && (
            <Segmented
              label="Direction"
              value={flame.inverted ? 'callees' : 'callers'}
              options={DIRECTIONS}
              onChange={(root) => onChange({ inverted: root === 'callees', ...WHOLE })}
            />
          )}
        </>
      )}
    </div>
  );
}

interface FlameTrailProps {
  readonly trail: readonly FlameStep[];
  /** Undefined zooms out completely. */
  readonly onZoom: (path: string | undefined) => void;
}

/** More steps do not fit; one button stands for the rest. */
const STEPS_SHOWN = 4;

export function FlameTrail({ trail, onZoom }: FlameTrailProps) {
  // An empty trail keeps its line: zooming must not move what is under the pointer.
  if (trail.length === 0) {
    return <p className="flame-trail">Click a box to zoom into it; arrow keys and Enter do too.</p>;
  }
  const left = Math.max(0, trail.length - STEPS_SHOWN);
  const lastLeft = trail[left - 1];
  const step = ({ group, path }: FlameStep, text: ReactNode, label?: string) => (
    <span key={path} className="flame-step-place">
      <ChevronRight size={12} aria-hidden />
      <button
        type="button"
        className="one-line hoverable quiet flame-step"
        title={`${groupName(group)} ${groupPlace(group)}`}
        aria-label={label}
        aria-current={path === trail.at(-1)?.path ? 'true' : undefined}
        onClick={() => onZoom(path)}
      >
        {text}
      </button>
    </span>
  );
  return (
    <nav className="flame-trail" aria-label="Zoomed into">
      <button
        type="button"
        className="one-line hoverable quiet flame-step"
        onClick={() => onZoom(undefined)}
      >
        All
      </button>
      {lastLeft && step(lastLeft, `… ${left} more`, `Up to ${groupLabel(lastLeft.group)}`)}
      {trail.slice(left).map((one) => step(one, groupLabel(one.group)))}
    </nav>
  );
}

const FILES = [
  {
    format: 'folded',
    label: 'Folded',
    title: 'Folded stacks, one per line, for flamegraph.pl and similar tools',
    extension: 'folded.txt',
    mime: 'text/plain',
  },
  {
    format: 'speedscope',
    label: 'Speedscope',
    title: 'A JSON file for speedscope',
    extension: 'speedscope.json',
    mime: 'application/json',
  },
] as const;

export function FlameDownloads({ query }: { readonly query: FlameQuery }) {
  const { info, device } = useDevice();
  const ask = useAsk();
  const flame = useView((view) => view.flame);
  const { state, save } = useSaving();
  const name = `${info.file.name}, ${DATASET_TEXT[flame.dataset]}`;
  const stem = exportName(info.file.name, flame, device);
  return (
    <span className="inline-row flame-downloads">
      {FILES.map(({ format, label, title, extension, mime }) => (
        <Button
          key={format}
          icon={Download}
          title={title}
          onClick={() =>
            void save(`${stem}.${extension}`, mime, (signal) =>
              ask('flameExport', { ...query, format, name }, { signal }),
            )
          }
        >
          {label}
        </Button>
      ))}
      {state.kind === 'failed' && <span role="alert">Not saved: {state.reason}</span>}
    </span>
  );
}

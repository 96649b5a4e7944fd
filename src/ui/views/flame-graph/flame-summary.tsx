import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { transformsIn } from '../../../device/flame-graph/transform-text.ts';
import type { DeviceInfo } from '../../../device/model/device-info.ts';
import { useStores, useView } from '../../../state/stores.ts';
import type { FlameView, ViewState } from '../../../state/view-store.ts';
import { ColorKey } from '../../plot/plot-controls.tsx';
import { Button } from '../../shared/buttons.tsx';
import { Blank } from '../../shared/facts.tsx';
import { useDevice } from '../../shared/services.ts';
import { useTheme } from '../../theme/use-theme.ts';
import {
  countText,
  eventRangeText,
  type FlameFigures,
  setText,
  shareText,
} from './flame-labels.ts';
import { transformed } from './flame-transforms.tsx';
import { type BoxColor, flameColors } from './paint-flame.ts';
import type { FlameReady } from './use-flame.ts';

interface FlameSummaryProps {
  readonly asked: FlameReady;
  readonly figures: FlameFigures;
}

export function FlameSummary({ asked, figures }: FlameSummaryProps) {
  const { device } = useDevice();
  const { set, graph, hasStacks } = asked.answer;
  const isByHolder = asked.request.groupBy === 'holder';
  const isAtEnd = set?.kind === 'live' && set.event >= device.events - 1;
  if (set === undefined || graph === undefined) return undefined;
  const { dataset, cursor, onlyMatches } = asked.request;
  const context = { hasCursor: cursor !== undefined, hasTrace: device.events > 0 };
  const { format, isDifference, hasSearch } = figures;
  const { value, magnitude, count, matched } = graph.total;
  return (
    <div className="row flame-summary">
      <p role="status">
        {setText(set, dataset, context)}:{' '}
        <strong title={format.exact(value)}>{format.short(value)}</strong>
        {', '}
        {countText(count, isDifference)}
        {hasSearch && onlyMatches && ' that match the search'}
        {hasSearch && !onlyMatches && (
          <>
            ; <strong>{shareText(matched, magnitude)}</strong> of it matches the search
          </>
        )}
      </p>
      <FlameKey isDifference={isDifference} isByHolder={isByHolder} />
      {isByHolder && !isAtEnd && (
        <Note>
          Names were looked for when the snapshot was taken: what had been freed by then has none.
        </Note>
      )}
      {!hasStacks && !isByHolder && (
        <Note>
          This file has no call stacks. Record them with{' '}
          <code>torch.cuda.memory._record_memory_history(stacks=&quot;python&quot;)</code> and take
          the snapshot again.
        </Note>
      )}
      {!graph.isRootFound && (
        <Note>
          The box you zoomed into holds nothing here. Showing the nearest one around it that does.
        </Note>
      )}
    </div>
  );
}

interface FlameKeyProps {
  readonly isDifference: boolean;
  readonly isByHolder: boolean;
}

function FlameKey({ isDifference, isByHolder }: FlameKeyProps) {
  const { grew, shrank, own, library, absent } = flameColors(useTheme());
  const colors: readonly (readonly [BoxColor | undefined, label: string])[] = isDifference
    ? [
        [grew.at(-1), 'grew'],
        [shrank.at(-1), 'shrank; width is growth plus shrinkage'],
      ]
    : [
        [own[0], isByHolder ? 'variables' : 'your code'],
        [library[0], isByHolder ? 'saved by autograd' : 'libraries'],
        [absent, isByHolder ? 'no name' : 'no frame'],
      ];
  const entries = colors.map(([color, label]) => ({ label, color: color?.fill ?? '' }));
  return <ColorKey label="Colors" entries={entries} />;
}

function Note({ children }: { readonly children: ReactNode }) {
  return (
    <p className="callout flame-note" data-tone="warning">
      <TriangleAlert size={13} aria-hidden />
      <span>{children}</span>
    </p>
  );
}

export function FlameEmpty({ asked }: { readonly asked: FlameReady }) {
  const { view } = useStores();
  const { device } = useDevice();
  const flame = useView((state) => state.flame);
  const { title, text, actions = {} } = emptiness(asked, device, flame);
  return (
    <Blank title={title} text={text}>
      <div className="button-row">
        {Object.entries(actions).map(([label, change]) => (
          <Button key={label} onClick={() => view.commit(change)}>
            {label}
          </Button>
        ))}
      </div>
    </Blank>
  );
}

interface Emptiness {
  readonly title: string;
  readonly text?: string;
  /** Changes of the view that would show something, by button label. */
  readonly actions?: Readonly<Record<string, Partial<ViewState>>>;
}

function emptiness(
  { answer, request }: FlameReady,
  { events, peaks }: DeviceInfo,
  flame: FlameView,
): Emptiness {
  const { set, isSearched } = answer;
  if (set === undefined) {
    const peak = Math.max(0, peaks.activeBytes.event);
    return {
      title: 'A difference needs two events',
      text: 'Set the cursor at one event and the second cursor (M) at another. Memory that stayed shows as growth, memory that was freed as shrinkage.',
      actions: {
        'From the first event to the last': { secondCursor: 0, cursor: events - 1 },
        'From the first event to the peak': { secondCursor: 0, cursor: peak },
      },
    };
  }
  const isOfStacks = request.groupBy !== 'holder';
  const applied = isOfStacks ? transformsIn(request.transforms ?? '') : [];
  if (applied.length > 0) {
    const keeping = (count: number) => ({
      flame: { ...flame, ...transformed(applied.slice(0, count).join(',')) },
    });
    return {
      title: 'The transforms leave nothing',
      text: 'No allocation here has a stack that passes them all.',
      actions: { 'Undo the last one': keeping(applied.length - 1), 'Show all stacks': keeping(0) },
    };
  }
  if (request.onlyMatches && isSearched) {
    return {
      title: 'Nothing here matches the search',
      actions: { 'Show non-matching allocations too': { onlyMatches: false } },
    };
  }
  if (request.weight === 'lifetime' && set.kind !== 'window') {
    // Blocks may exist, but their lifetimes add up to 0.
    return events === 0
      ? {
          title: 'No lifetimes recorded',
          text: 'This device has no recorded history. Switch to bytes to see what was live when the snapshot was taken.',
        }
      : {
          title: 'All lifetimes are zero',
          text: 'Whatever is live here was only just allocated. Switch to bytes to see it.',
        };
  }
  switch (set.kind) {
    case 'window':
      return {
        title: 'Nothing was allocated in the window',
        text: `In the timeline’s window, ${eventRangeText(set.from, set.to)}, nothing was allocated.`,
        actions: { 'Use the whole trace': { x: 'all' } },
      };
    case 'live':
      return {
        title: 'Nothing was live at this event',
        text: 'This device had no blocks in use at that event. Choose another event, such as the peak.',
      };
    case 'difference':
      return { title: 'Nothing changed', text: 'The same allocations are live at both events.' };
  }
}

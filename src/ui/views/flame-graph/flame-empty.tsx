import type { ReactNode } from 'react';
import { useStores } from '../../../state/stores.ts';
import type { ViewState } from '../../../state/view-store.ts';
import { useDevice } from '../../shared/services.ts';
import { eventRangeText } from './flame-labels.ts';
import type { FlameReady } from './use-flame.ts';

/** Why there is nothing to see, and what would change that. */
export function FlameEmpty({ asked: { answer, request } }: { readonly asked: FlameReady }) {
  const { set, isSearched } = answer;
  if (set === undefined) return <NoDifference />;
  if (request.onlyMatches && isSearched) {
    return (
      <Empty title="Nothing here matches the search">
        <Action label="Show non-matching allocations too" change={{ onlyMatches: false }} />
      </Empty>
    );
  }
  if (request.weight === 'lifetime' && set.kind !== 'window') return <NoLifetime />;
  switch (set.kind) {
    case 'window':
      return (
        <Empty
          title="Nothing was allocated in the window"
          text={`In the timeline’s window, ${eventRangeText(set.from, set.to)}, nothing was allocated.`}
        >
          <Action label="Use the whole trace" change={{ x: 'all' }} />
        </Empty>
      );
    case 'live':
      return (
        <Empty
          title="Nothing was live at this event"
          text="This device had no blocks in use at that event. Choose another event, such as the peak."
        />
      );
    case 'difference':
      return <Empty title="Nothing changed" text="The same allocations are live at both events." />;
  }
}

/** Blocks may exist, but their lifetimes add up to 0. */
function NoLifetime() {
  const { device } = useDevice();
  return device.events === 0 ? (
    <Empty
      title="No lifetimes recorded"
      text="This device has no recorded history. Switch to bytes to see what was live when the snapshot was taken."
    />
  ) : (
    <Empty
      title="All lifetimes are zero"
      text="Whatever is live here was only just allocated. Switch to bytes to see it."
    />
  );
}

/** The common comparisons are one click away. */
function NoDifference() {
  const { device } = useDevice();
  const last = device.events - 1;
  const peak = Math.max(0, device.peaks.activeBytes.event);
  return (
    <Empty
      title="A difference needs two events"
      text="Set the cursor at one event and the second cursor (M) at another. Memory that stayed shows as growth, memory that was freed as shrinkage."
    >
      <Action label="From the first event to the last" change={{ secondCursor: 0, cursor: last }} />
      <Action label="From the first event to the peak" change={{ secondCursor: 0, cursor: peak }} />
    </Empty>
  );
}

interface ActionProps {
  readonly label: string;
  readonly change: Partial<ViewState>;
}

function Action({ label, change }: ActionProps) {
  const { view } = useStores();
  return (
    <button type="button" className="button" onClick={() => view.commit(change)}>
      {label}
    </button>
  );
}

interface EmptyProps {
  readonly title: string;
  readonly text?: string;
  readonly children?: ReactNode;
}

function Empty({ title, text, children }: EmptyProps) {
  return (
    <div className="blank">
      <h2>{title}</h2>
      {text !== undefined && <p>{text}</p>}
      <div className="button-row">{children}</div>
    </div>
  );
}

import { type ComponentType, useEffect, useState } from 'react';
import { formatCount } from '../../../base/format.ts';
import type { ViewName } from '../../../state/view-store.ts';
import { RecordRecipes } from '../../panels/recipes/record-recipes.tsx';
import { Bytes } from '../../shared/bytes.tsx';
import { useDevice } from '../../shared/device-context.ts';
import { COUNTERS } from '../../shared/device-labels.ts';
import { useServices } from '../../shared/services.ts';
import { VIEW_LABELS } from '../../shared/view-names.ts';
import { VIEWS, type ViewEntry } from './views.tsx';

/** Views that were fetched before render at once. */
const fetched = new Map<ViewName, ComponentType>();

/** The view of that name; fetches it on first use. */
export function ViewSlot({ name }: { readonly name: ViewName }) {
  const { device } = useDevice();
  const entry = VIEWS.find((view) => view.name === name) ?? VIEWS[0];
  if (entry === undefined) return undefined;
  if (entry.needsTrace === true && device.events === 0) return <NoTrace />;
  const Component = entry.component;
  if (Component !== undefined) return <Component />;
  // One way for what is fetched and what is there: another would make the view anew, and lose what
  // is scrolled and typed in it, as soon as it is drawn for the second time.
  return <FetchedView key={entry.name} entry={entry} />;
}

function FetchedView({ entry }: { readonly entry: ViewEntry }) {
  const { idle } = useServices();
  const [Component, setComponent] = useState(() => fetched.get(entry.name));
  const [hasFailed, setHasFailed] = useState(false);
  useEffect(() => {
    if (fetched.has(entry.name)) return;
    let isWanted = true;
    const fetchView = async () => {
      const component = await entry.load?.();
      if (component === undefined) return;
      fetched.set(entry.name, component);
      // A function given to a setter is called: hand it one that gives the component.
      if (isWanted) setComponent(() => component);
    };
    idle.during(fetchView).catch(() => isWanted && setHasFailed(true));
    return () => {
      isWanted = false;
    };
  }, [entry, idle]);
  if (Component !== undefined) return <Component />;
  if (!hasFailed) return <div className="blank" aria-busy />;
  return (
    <div className="blank" role="alert">
      <h2>The {VIEW_LABELS[entry.name].label.toLowerCase()} view could not be loaded</h2>
      <p>
        The server of this page is gone or has a newer version. Reload the page and open the file
        again.
      </p>
    </div>
  );
}

/** For a device without events, only its final state is known. */
function NoTrace() {
  const { device } = useDevice();
  return (
    <div className="blank">
      <h2>No history was recorded on this device</h2>
      <p>
        {device.recordingReason} Over time there is nothing to show; this is how memory stood when
        the snapshot was taken, in {formatCount(device.segmentsAtEnd)}{' '}
        {device.segmentsAtEnd === 1 ? 'segment' : 'segments'}:
      </p>
      <dl className="facts">
        {COUNTERS.map(({ name, label, about }) => (
          <div key={name} title={about}>
            <dt>{label}</dt>
            <Bytes as="dd" bytes={device.end[name]} />
          </div>
        ))}
      </dl>
      <h3>To see what filled it, record its history</h3>
      <RecordRecipes />
    </div>
  );
}

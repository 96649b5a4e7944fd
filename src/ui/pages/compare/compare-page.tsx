import './compare.css';
import { ArrowLeftRight, FolderOpen, X } from 'lucide-react';
import { useEffect, useMemo } from 'react';
import { useStore } from 'zustand';
import { haveOwnRanks } from '../../../analysis/summary-file/rank-of-name.ts';
import type { SessionInfo } from '../../../device/model/device-info.ts';
import { mainDeviceIndex } from '../../../device/model/main-device.ts';
import { deviceTitle } from '../../../device/model/vendors.ts';
import type { SecondSession } from '../../../state/snapshot-loader.ts';
import { createSessionStore, useStores, useView } from '../../../state/stores.ts';
import type { OpenSource } from '../../../worker/protocol.ts';
import { Button, IconButton, Segmented, Select } from '../../shared/buttons.tsx';
import { Blank } from '../../shared/facts.tsx';
import { useServices } from '../../shared/services.ts';
import { FilePicker } from '../open/file-picker.tsx';
import { OpeningStatus } from '../open/opening-status.tsx';
import { ComparedContent } from './compared-content.tsx';
import { type ComparisonViewHandle, useComparisonView } from './comparison-view.ts';
import { type OpenSide, SideName, useComparison } from './sides.tsx';

export interface ComparePageProps {
  readonly info: SessionInfo;
  readonly second: SecondSession | undefined;
  /** Shows the two files as ranks of one job; undefined if they are shown so already. */
  readonly onRanks: ((a: OpenSource, b: OpenSource) => void) | undefined;
  readonly onClose: () => void;
}

export function ComparePage(props: ComparePageProps) {
  const { info, second, onClose } = props;
  const { view } = useStores();
  const leave = () => {
    onClose();
    view.commit({ comparison: undefined });
  };
  const state = useStore(second?.state ?? NONE);
  if (second === undefined) return <WaitingPage info={info} onClose={leave} />;
  if (state.phase === 'ready') {
    const files = { ...props, second, secondInfo: state.info };
    return <OpenPage key={second.name} {...files} onClose={leave} />;
  }
  return (
    <main className="view fill loading-page">
      <OpeningStatus state={state} onLeave={onClose} onPartial={second.loader.openPartially}>
        <Button onClick={onClose}>Show {info.file.name} alone</Button>
      </OpeningStatus>
    </main>
  );
}

const NONE = createSessionStore();

function WaitingPage({ info, onClose }: Pick<ComparePageProps, 'info' | 'onClose'>) {
  const { a, b } = useComparisonView(info.file, undefined).view;
  const missing = [a, b].find((file) => file !== undefined && file.bytes !== info.file.bytes);
  return (
    <main className="view fill">
      <div className="blank" data-testid="compare-waiting">
        <h2>Compare {info.file.name} with another snapshot</h2>
        <p>
          {missing === undefined
            ? 'Drop the second file anywhere on this page, or choose it.'
            : `This link compares it with ${missing.name} (${missing.bytes} bytes). Drop that file anywhere on this page, or choose it.`}
        </p>
        <div className="button-row">
          <FilePicker icon={FolderOpen} isPrimary>
            Choose the second file…
          </FilePicker>
          <Button onClick={onClose}>Don’t compare</Button>
        </div>
      </div>
    </main>
  );
}

interface OpenPageProps extends ComparePageProps {
  readonly second: SecondSession;
  readonly secondInfo: SessionInfo;
}

function OpenPage({ info, second, secondInfo, onRanks, onClose }: OpenPageProps) {
  const { session, loader } = useServices();
  const handle = useComparisonView(info.file, secondInfo.file);
  const { a: linkedA, b: linkedB, deviceA, deviceB, isSwapped } = handle.view;
  const { adjust } = handle;
  const [bytes, secondBytes] = [info.file.bytes, secondInfo.file.bytes];
  // A link may name the two open files in the other order.
  const isReversed =
    linkedA?.bytes === secondBytes && linkedB?.bytes === bytes && bytes !== secondBytes;
  const isComparing = useView((view) => view.comparison !== undefined);
  useEffect(() => {
    // Back may be about to close this page.
    if (isComparing) adjust(isReversed ? { isSwapped: !isSwapped } : {});
  }, [adjust, isComparing, isReversed, isSwapped]);
  const [a, b] = useMemo(() => {
    const opened = { session, info };
    const other = { session: second.session, info: secondInfo };
    const [first, last] = isSwapped ? [other, opened] : [opened, other];
    const side = (letter: 'A' | 'B', { session: own, info: of }: typeof first, at?: number) => {
      const device = of.devices[at ?? mainDeviceIndex(of.devices)] ?? of.devices[0];
      return device && { letter, session: own, info: of, device };
    };
    return [side('A', first, deviceA), side('B', last, deviceB)] as const;
  }, [session, info, second, secondInfo, isSwapped, deviceA, deviceB]);
  if (a === undefined || b === undefined) {
    const empty = a === undefined ? info : secondInfo;
    return (
      <main className="view fill">
        <div className="blank">
          <h2>{empty.file.name} is empty</h2>
          <p>It has no events and no segments for any device: there is nothing to compare.</p>
          <Button onClick={onClose}>Don’t compare</Button>
        </div>
      </main>
    );
  }
  const [source, secondSource] = [loader.opened(), second.loader.opened()];
  const showRanks = onRanks && source && secondSource && (() => onRanks(source, secondSource));
  return <Compared a={a} b={b} handle={handle} onRanks={showRanks} onClose={onClose} />;
}

interface ComparedProps {
  readonly a: OpenSide;
  readonly b: OpenSide;
  readonly handle: ComparisonViewHandle;
  readonly onRanks: (() => void) | undefined;
  readonly onClose: () => void;
}

function Compared(props: ComparedProps) {
  const { a, b, handle, onRanks } = props;
  const hint = onRanks && ranksHint(a, b);
  const { view } = handle;
  const { compared, failure } = useComparison(a, b, view.at);
  return (
    <main className="view fill" data-testid="compare" aria-busy={compared === undefined}>
      <CompareHead {...props} onRanks={hint === undefined ? onRanks : undefined} />
      {hint !== undefined && (
        <aside className="spread notices quiet-notice" aria-label="Ranks">
          <p>{hint}</p>
          <Button onClick={onRanks}>Show as ranks</Button>
        </aside>
      )}
      {failure !== undefined && (
        <Blank isAlert title="The files could not be compared" text={failure} />
      )}
      {compared === undefined && failure === undefined && <p className="note dim">Comparing…</p>}
      {compared !== undefined && (
        <ComparedContent key={compared.pair} a={a} b={b} compared={compared} handle={handle} />
      )}
    </main>
  );
}

/** Why the two could be ranks of one job, whose differences are better seen side by side. */
function ranksHint(a: OpenSide, b: OpenSide): string | undefined {
  if (haveOwnRanks([a.info.file.name, b.info.file.name]))
    return 'By their names, these are two ranks of one job.';
  return a.device.device === b.device.device
    ? undefined
    : 'The two files used different GPUs, as ranks of one job do.';
}

function CompareHead({ a, b, handle, onRanks, onClose }: ComparedProps) {
  const { view, commit } = handle;
  const head = (side: OpenSide, onDevice: (position: number) => void) => (
    <span className="inline-row">
      <SideName {...side} />
      {side.info.devices.length > 1 && (
        <Select
          aria-label={`Device of ${side.letter}`}
          value={side.device.index}
          options={side.info.devices.map((one) => ({ value: one.index, label: deviceTitle(one) }))}
          onChoose={onDevice}
        />
      )}
    </span>
  );
  const swapped = {
    isSwapped: !view.isSwapped,
    deviceA: view.deviceB,
    deviceB: view.deviceA,
    row: undefined,
  };
  return (
    <div className="row bar">
      <h2 className="visually-hidden">Comparison</h2>
      {head(a, (deviceA) => commit({ deviceA, row: undefined }))}
      <IconButton icon={ArrowLeftRight} label="Swap A and B" onClick={() => commit(swapped)} />
      {head(b, (deviceB) => commit({ deviceB, row: undefined }))}
      <span className="spacer" />
      <Segmented
        label="Moment"
        value={view.at}
        options={MOMENTS}
        onChange={(at) => commit({ at, row: undefined })}
      />
      {onRanks !== undefined && (
        <Button onClick={onRanks} title="These are ranks of one job: show which one holds more">
          Show as ranks
        </Button>
      )}
      <Button icon={X} onClick={onClose} title="Show one file alone">
        Close
      </Button>
    </div>
  );
}

const MOMENTS = [
  { value: 'peak', label: 'at the peaks', about: 'Each file where its allocated memory peaks' },
  { value: 'end', label: 'at the ends', about: 'Each file at the end of its recording' },
] as const;

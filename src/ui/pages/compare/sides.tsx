/** The two files of a comparison: the side that views below see, and the comparison of both. */
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import type { RunProfile } from '../../../analysis/compare/types.ts';
import { errorText } from '../../../base/errors.ts';
import type { DeviceInfo, SessionInfo } from '../../../device/model/device-info.ts';
import { type Stores, StoresContext, useStores } from '../../../state/stores.ts';
import { openingView } from '../../../state/view-fitting.ts';
import { createViewStore, type ViewStore } from '../../../state/view-store.ts';
import type { PageComparison } from '../../../worker/protocol.ts';
import { SelectionContext, useFoundSelection } from '../../shared/selection.tsx';
import {
  CurrentDeviceContext,
  type Services,
  ServicesContext,
  useServices,
} from '../../shared/services.ts';

export interface OpenSide {
  readonly letter: 'A' | 'B';
  readonly session: Services['session'];
  readonly info: SessionInfo;
  readonly device: DeviceInfo;
}

export function SideName({ letter, info: { file } }: Pick<OpenSide, 'letter' | 'info'>) {
  return (
    <>
      <span className="small compare-letter" data-side={letter}>
        {letter}
      </span>
      <span className="one-line compare-file" title={file.name}>
        {file.name}
      </span>
    </>
  );
}

/** A side that is compared, with its own view: window, cursor and search, independent of the page's view. */
export interface ComparedSide {
  readonly open: OpenSide;
  readonly view: ViewStore;
  readonly side: RunProfile;
}

export const useComparedSide = (open: OpenSide, side: RunProfile): ComparedSide =>
  useMemo(() => {
    const { info, device } = open;
    const cursor = Math.max(0, side.event);
    const own = { deviceIndex: device.index, colorBy: 'class', cursor } as const;
    return { open, side, view: createViewStore({ ...openingView(info), ...own }) };
  }, [open, side]);

interface SideProviderProps extends Pick<ComparedSide, 'open' | 'view'> {
  readonly children: ReactNode;
}

/** Everything below sees this side as the only open file. */
export function SideProvider({ open, view, children }: SideProviderProps) {
  const services = useServices();
  const stores = useStores();
  const { session } = open;
  const ownServices = useMemo(() => ({ ...services, session }), [services, session]);
  const ownStores = useMemo((): Stores => ({ ...stores, view }), [stores, view]);
  return (
    <ServicesContext value={ownServices}>
      <StoresContext value={ownStores}>
        <CurrentDeviceContext value={open}>
          <WithSelection>{children}</WithSelection>
        </CurrentDeviceContext>
      </StoresContext>
    </ServicesContext>
  );
}

function WithSelection({ children }: { readonly children: ReactNode }) {
  return <SelectionContext value={useFoundSelection()}>{children}</SelectionContext>;
}

export interface ComparedPair {
  readonly pair: string;
  readonly a: RunProfile;
  readonly b: RunProfile;
  readonly comparison: PageComparison;
}

interface ComparisonState {
  readonly compared?: ComparedPair;
  readonly failure?: string;
}

let pairs = 0;

/** Both sessions export their sides in parallel; A's session compares them. */
export function useComparison(a: OpenSide, b: OpenSide, at: 'peak' | 'end'): ComparisonState {
  const { idle } = useServices();
  const [state, setState] = useState<ComparisonState>({});
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    setState({});
    async function compare(): Promise<ComparedPair> {
      const [sideA, sideB] = await Promise.all([sideOf(a, at, signal), sideOf(b, at, signal)]);
      const pair = `${++pairs}`;
      const request = { deviceIndex: a.device.index, pair, a: sideA, b: sideB };
      const comparison = await a.session.query('comparison', request, { signal });
      return { pair, a: sideA, b: sideB, comparison };
    }
    idle.during(compare).then(
      (compared) => signal.aborted || setState({ compared }),
      (error: unknown) => signal.aborted || setState({ failure: errorText(error) }),
    );
    return () => controller.abort();
  }, [a, b, at, idle]);
  return state;
}

const sideOf = ({ session, info, device }: OpenSide, at: 'peak' | 'end', signal: AbortSignal) =>
  session.query('comparisonSide', { deviceIndex: device.index, file: info.file, at }, { signal });

/** One of the two files, for all that is below: views show it as if it were the only one open. */
import { type ReactNode, useMemo } from 'react';
import type { DeviceInfo, SessionInfo } from '../../../device/model/device-info.ts';
import { type Stores, StoresContext, useStores } from '../../../state/stores.ts';
import { openingView } from '../../../state/view-fitting.ts';
import { createViewStore, type ViewStore } from '../../../state/view-store.ts';
import { SelectionContext, useFoundSelection } from '../../shared/selection.tsx';
import {
  CurrentDeviceContext,
  type Services,
  ServicesContext,
  useServices,
} from '../../shared/services.ts';

/** An open file and the device of it that is compared. */
export interface OpenSide {
  readonly letter: 'A' | 'B';
  readonly session: Services['session'];
  readonly info: SessionInfo;
  readonly device: DeviceInfo;
}

/** The view on one side, apart from that of the page: its window, cursor and search. */
export function useSideView({ info, device }: OpenSide): ViewStore {
  const view = useMemo(
    () => createViewStore({ ...openingView(info), deviceIndex: device.index, colorBy: 'class' }),
    [info, device],
  );
  return view;
}

interface SideProviderProps {
  readonly side: OpenSide;
  readonly view: ViewStore;
  readonly children: ReactNode;
}

export function SideProvider({ side, view, children }: SideProviderProps) {
  const services = useServices();
  const stores = useStores();
  const { session, info, device } = side;
  const ownServices = useMemo(() => ({ ...services, session }), [services, session]);
  const ownStores = useMemo((): Stores => ({ ...stores, view }), [stores, view]);
  const shown = useMemo(() => ({ info, device }), [info, device]);
  return (
    <ServicesContext value={ownServices}>
      <StoresContext value={ownStores}>
        <CurrentDeviceContext value={shown}>
          <WithSelection>{children}</WithSelection>
        </CurrentDeviceContext>
      </StoresContext>
    </ServicesContext>
  );
}

function WithSelection({ children }: { readonly children: ReactNode }) {
  return <SelectionContext value={useFoundSelection()}>{children}</SelectionContext>;
}

/** Renders a component on a real capture as the workbench does, for tests in jsdom. */
import { cleanup, configure, render } from '@testing-library/react';
import { PointerEventsCheckLevel, type UserEvent, userEvent } from '@testing-library/user-event';
import { type ReactNode, useMemo } from 'react';
import { onTestFinished } from 'vitest';
import { createStore } from 'zustand/vanilla';
import { createFindingsStore } from '../state/findings-store.ts';
import { createIdleCounter, createTimings } from '../state/page-timings.ts';
import { createSnapshotLoader } from '../state/snapshot-loader.ts';
import { createStores, openInfo, StoresContext, useSession, useView } from '../state/stores.ts';
import { openingView } from '../state/view-fitting.ts';
import type { ViewState } from '../state/view-store.ts';
import { SelectionContext, useFoundSelection } from '../ui/shared/selection.tsx';
import {
  AnalysisServicesContext,
  CurrentDeviceContext,
  FindingsContext,
  ServicesContext,
  useFindingsInView,
} from '../ui/shared/services.ts';
import { createAnalysisClient } from '../worker/analysis/client.ts';
import type { SessionApi } from '../worker/protocol.ts';
import { analysisWorker, captureSession } from './open-session.ts';

export interface Shown {
  /** Types and clicks like a person. */
  readonly user: UserEvent;
  readonly session: SessionApi;
  /** The page's current view, as the URL would hold it. */
  readonly view: () => ViewState;
  /** Changes the view as another part of the page would. */
  readonly commit: (change: Partial<ViewState>) => void;
}

// A busy machine takes longer than the default wait of one second. Queries that succeed sooner do not wait.
configure({ asyncUtilTimeout: 20_000, getElementError: (message) => new Error(message ?? '') });

/**
 * Opens a capture and renders `children` on its initial device. Everything is real except the workers, which run in
 * this thread.
 * @param name of a capture, such as 'leak_forward_hook'
 * @param bytes of a snapshot that is not in fixtures/
 */
export async function renderOn(
  name: string,
  children: ReactNode,
  bytes?: Uint8Array,
): Promise<Shown> {
  const session = Object.assign(captureSession(bytes && (() => bytes)), {});
  const idle = createIdleCounter();
  const timings = createTimings();
  const stores = createStores();
  const notices = createStore<readonly string[]>(() => []);
  const analysis = createAnalysisClient({
    session,
    createWorker: analysisWorker,
    idle,
  });
  const findings = createFindingsStore({ analysis, idle, timings });
  const loader = createSnapshotLoader({
    client: { ...session, expectFile: () => () => undefined },
    idle,
    session: stores.session,
    prepare: async () => (info) => stores.view.restore(openingView(info)),
  });
  await loader.open({ kind: 'url', url: name });
  // No timeline will paint a first frame, which the findings wait for.
  timings.start();
  timings.reach('painted');
  // Without style sheets only inline styles count; jsdom would match its default rules for every element again.
  window.getComputedStyle = (element) => (element as HTMLElement).style;
  // jsdom has no layout.
  Element.prototype.scrollIntoView = () => undefined;
  HTMLDialogElement.prototype.showModal = function show() {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function close() {
    this.open = false;
  };
  onTestFinished(() => {
    cleanup();
    analysis.close();
  });
  render(
    <StoresContext value={stores}>
      <ServicesContext value={{ session, loader, timings, idle, notices, report: undefined }}>
        <AnalysisServicesContext value={{ analysis, findings }}>
          <InView>{children}</InView>
        </AnalysisServicesContext>
      </ServicesContext>
    </StoresContext>,
  );
  return {
    user: userEvent.setup({ pointerEventsCheck: PointerEventsCheckLevel.Never }),
    session,
    view: () => stores.view.getState().view,
    commit: stores.view.commit,
  };
}

function InView({ children }: { readonly children: ReactNode }) {
  const info = useSession(openInfo);
  const device = info?.devices[useView((view) => view.deviceIndex)];
  const shown = useMemo(() => info && device && { info, device }, [info, device]);
  if (shown === undefined) throw new Error('Nothing is open');
  return (
    <CurrentDeviceContext value={shown}>
      <Selected key={shown.device.index}>{children}</Selected>
    </CurrentDeviceContext>
  );
}

function Selected({ children }: { readonly children: ReactNode }) {
  return (
    <FindingsContext value={useFindingsInView()}>
      <SelectionContext value={useFoundSelection()}>{children}</SelectionContext>
    </FindingsContext>
  );
}

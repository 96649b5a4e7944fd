// @vitest-environment jsdom
import { render } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { createTimings } from '../../../state/page-timings.ts';
import { createStores, StoresContext } from '../../../state/stores.ts';
import type { PartialState } from '../../../worker/protocol.ts';
import { type Services, ServicesContext } from '../../shared/services.ts';
import { PartialView } from './partial-view.tsx';

// jsdom has none.
vi.hoisted(() => Object.assign(window, { matchMedia: () => new EventTarget() }));

const stateAt = (events: number): PartialState => {
  const peak = { bytes: 1024, event: 0 };
  return {
    trace: 0,
    events,
    peaks: {
      requestedBytes: peak,
      allocatedBytes: peak,
      activeBytes: peak,
      reservedBytes: peak,
      inactiveSplitBytes: peak,
    },
    isExact: true,
  };
};

it('draws a picture when there are new events, not at each report of progress', async () => {
  const partialFrame = vi.fn(async () => Promise.reject(new Error('jsdom has no canvas')));
  const services = { session: { partialFrame }, timings: createTimings() } as unknown as Services;
  const stores = createStores();
  const at = (events: number) => (
    <StoresContext value={stores}>
      <ServicesContext value={services}>
        <PartialView partial={stateAt(events)} isCut={false}>
          {undefined}
        </PartialView>
      </ServicesContext>
    </StoresContext>
  );
  const { rerender } = render(at(1000));
  const drawn: number[] = [];
  for (const events of [1000, 1000, 2000, 2000]) {
    rerender(at(events));
    // The view asks for one picture at a time: lets the one in hand fail.
    await new Promise(setImmediate);
    drawn.push(partialFrame.mock.calls.length);
  }
  expect(drawn).toEqual([1, 1, 2, 2]);
});

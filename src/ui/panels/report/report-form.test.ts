import { expect, it } from 'vitest';
import { DEFAULT_VIEW, type ViewState } from '../../../state/view-store.ts';
import { viewOfPart } from './report-form.tsx';

const VIEW: ViewState = {
  ...DEFAULT_VIEW,
  view: 'flame-graph',
  deviceIndex: 1,
  x: { from: 5_000, to: 6_000 },
  cursor: 5_200,
  secondCursor: 100,
  selection: 'b7f064c000000_3',
};

it('is the same view on the whole device', () => {
  const whole = viewOfPart(VIEW, { from: 0, to: 10_000 }, 10_000);
  expect(whole).toEqual({ ...VIEW, deviceIndex: 0 });
});

it('counts the events of a part from its start, and drops what lies outside', () => {
  const part = viewOfPart(VIEW, { from: 5_000, to: 6_000 }, 10_000);
  expect(part).toMatchObject({ view: 'flame-graph', deviceIndex: 0, x: 'all', cursor: 200 });
  expect(part.secondCursor).toBeUndefined();
  expect(part.selection).toBeUndefined();
});

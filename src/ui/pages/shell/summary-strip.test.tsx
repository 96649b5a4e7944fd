// @vitest-environment jsdom
import { screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { renderOn } from '../../../testing/render-on.tsx';
import { jumpsOf } from '../../panels/cursor/cursor-bar.tsx';
import { useDevice } from '../../shared/services.ts';
import { SummaryStrip } from './summary-strip.tsx';

function Peaks() {
  const jumps = jumpsOf(useDevice().device);
  return (
    <>
      <SummaryStrip />
      <p data-testid="jump">{jumps[0]?.text}</p>
    </>
  );
}

it.each([
  ['train_ring_truncated', /^≥ [\d.]+ [GM]iB$/],
  ['train_gpt_small', /^[\d.]+ [GM]iB$/],
])('%s: a peak is a lower bound where the beginning is lost', async (capture, bytes) => {
  await renderOn(capture, <Peaks />);
  const peaks = screen.getAllByText('Peak allocated').map((label) => label.nextElementSibling);
  for (const peak of peaks) expect(peak?.textContent).toMatch(bytes);
  expect(screen.getByTestId('jump').textContent).toMatch(bytes);
});

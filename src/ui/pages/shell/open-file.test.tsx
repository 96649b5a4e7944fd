// @vitest-environment jsdom
import { screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { truthOf } from '../../../testing/captures.ts';
import { renderOn } from '../../../testing/render-on.tsx';
import { writePickle } from '../../../testing/write-pickle.ts';
import { useDevice } from '../../shared/services.ts';
import { OpenFile } from './open-file.tsx';

function Header() {
  const { info, device } = useDevice();
  return (
    <>
      <OpenFile info={info} />
      <p>cuda:{device.device} is shown</p>
    </>
  );
}

const list = () => screen.getByRole<HTMLSelectElement>('combobox', { name: 'Device' });
const options = () => screen.getAllByRole<HTMLOptionElement>('option');

it('names each device with its events and its peak, and shows the one that is chosen', async () => {
  const { stats } = truthOf('two_devices.pickle.gz');
  const peak = (device: number) => Number(stats[device]?.['allocated_bytes.all.peak']) / 2 ** 20;
  const { user } = await renderOn('two_devices', <Header />);
  expect(options().map(({ textContent }) => textContent)).toEqual([
    expect.stringMatching(new RegExp(`^cuda:0 · [0-9]+ events · peak ${peak(0).toFixed(2)} MiB$`)),
    expect.stringMatching(new RegExp(`^cuda:1 · [0-9]+ events · peak ${peak(1).toFixed(2)} MiB$`)),
  ]);
  for (const name of ['cuda:1', 'cuda:0']) {
    await user.selectOptions(list(), screen.getByRole('option', { name: new RegExp(name) }));
    expect(screen.getByText(`${name} is shown`)).toBeDefined();
  }
});

it('opens a rank’s file on its own device; those that the process did not use cannot be chosen', async () => {
  const taken = { addr: 4096, size: 2 ** 21, stream: 0, time_us: 1, frames: [] };
  const trace = [
    { ...taken, action: 'segment_alloc' },
    { ...taken, action: 'alloc' },
  ];
  const bytes = writePickle({ segments: [], device_traces: [[], [], trace] });
  await renderOn('rank2', <Header />, bytes);
  expect(list().value).toBe('2');
  expect(
    options().map(({ textContent, disabled }) => [textContent?.slice(0, 6), disabled]),
  ).toEqual([
    ['cuda:2', false],
    ['cuda:0', true],
    ['cuda:1', true],
  ]);
});

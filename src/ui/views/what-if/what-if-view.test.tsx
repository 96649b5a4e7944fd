// @vitest-environment jsdom
import { screen } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { renderOn } from '../../../testing/render-on.tsx';
import { View } from './what-if-view.tsx';

class Unmeasured {
  observe = () => undefined;
  disconnect = () => undefined;
}
vi.stubGlobal('ResizeObserver', Unmeasured);

it('recommends no setting to a run that needs none, and shows them when asked', async () => {
  const { user } = await renderOn('train_gpt_small', <View />);
  await screen.findByText(/No request failed, and none of the settings tried would reserve/);
  expect(screen.queryByRole('table', { name: 'Settings' })).toBeNull();
  await user.click(screen.getByRole('button', { name: 'Compare settings' }));
  expect(screen.getByRole('table', { name: 'Settings' })).toBeDefined();
});

it('shows the setting that would reserve notably less, though nothing failed', async () => {
  await renderOn('train_resnet', <View />);
  await screen.findByText(/^No request failed, so this is only an option\./);
  expect(screen.queryByText('No setting needs changing.')).toBeNull();
});

it('ends no run that broke off on a GPU, and says what is unknown after it', async () => {
  await renderOn('oom_fragmented', <View />);
  await screen.findByText(/It is the simplest setting that does/);
  expect(screen.queryByText('No setting needs changing.')).toBeNull();
  expect(screen.getAllByText('can’t tell').length).toBeGreaterThan(2);
  const chosen = screen.getByRole('region', { name: 'Chosen setting' });
  expect(chosen.textContent).toContain('what came next is not in the recording');
  // Each claim says for which limit it is.
  expect(chosen.textContent).toContain("under this process's limit of at least 6.00 GiB");
  expect(screen.getByText(/with this process's limit of at least 6\.00 GiB/)).toBeDefined();
  expect(screen.getByRole('option', { name: 'as recorded: at least 6.00 GiB' })).toBeDefined();
});

it('chooses no setting if memory runs out under each', async () => {
  await renderOn('oom_batch_too_big', <View />);
  await screen.findByText('None of the settings tried would have helped:');
  expect(screen.queryByRole('radio', { checked: true })).toBeNull();
  expect(screen.getAllByText(/^ran out at event/).length).toBeGreaterThan(2);
});

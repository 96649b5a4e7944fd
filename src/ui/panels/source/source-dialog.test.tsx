// @vitest-environment jsdom
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { screen, within } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import type { FrameView } from '../../../device/model/types.ts';
import { renderOn, type Shown } from '../../../testing/render-on.tsx';
import { SourceDialog } from './source-dialog.tsx';

/** A hook at line 338 keeps a clone of 8 MiB in each of 24 steps. */
const FRAME: FrameView = {
  name: 'save_features',
  filename: '/workspace/pairs/capture.py',
  line: 338,
  kind: 'user',
  isPlumbing: false,
  extras: undefined,
};

/** The same recording with its code inside. */
const recorded = () => gunzipSync(readFileSync('fixtures/record/source.pkl.gz'));

async function choose(user: Shown['user'], code: string) {
  const file = new File([code], 'capture.py');
  Object.defineProperty(file, 'webkitRelativePath', { value: 'checkout/capture.py' });
  file.arrayBuffer = async () => new TextEncoder().encode(code).buffer;
  await user.upload(screen.getByLabelText('Folder of your code'), file);
}

async function show(bytes?: Uint8Array) {
  const onClose = vi.fn();
  const { user, view, session } = await renderOn(
    'pairs/leak_forward_hook.python',
    <SourceDialog frame={FRAME} onClose={onClose} />,
    bytes,
  );
  const table = await screen.findByRole('table', { name: 'Lines of capture.py' });
  const rows = () => within(table).getAllByRole('row', { hidden: true }).slice(1);
  const row = (line: number) => rows().find((one) => one.textContent?.startsWith(String(line)));
  return { user, view, session, onClose, rows, row };
}

it('lists the lines that hold memory, and filters all views to one', async () => {
  const { user, view, onClose, row } = await show();
  expect(row(338)?.textContent).toBe('338192.00 MiB192.00 MiB192.00 MiBin save_features');
  expect(row(338)?.getAttribute('aria-current')).toBe('location');
  await user.click(screen.getByRole('button', { name: '338' }));
  expect(view().search).toBe('"/workspace/pairs/capture.py:338"');
  expect(onClose).toHaveBeenCalled();
});

it('shows the text from a folder that the user chooses', async () => {
  const { user, rows, row } = await show();
  const few = rows().length;
  const code = Array.from({ length: 400 }, (_, index) => `line_${index + 1}()`).join('\n');
  await choose(user, code);
  await screen.findByText(
    'This is the text of checkout/capture.py. It may have changed since the recording.',
  );
  expect(few).toBeLessThan(100);
  expect(rows().length).toBeGreaterThanOrEqual(400);
  expect(row(338)?.textContent).toContain('192.00 MiBline_338()');
});

it('shows the recorded text at once', async () => {
  const { row } = await show(recorded());
  await screen.findByText('Recorded with the run.');
  expect(row(338)?.textContent).toContain('192.00 MiB        features.append(output');
});

it('knows whether a file has changed since the recording', async () => {
  const { user, row } = await show(recorded());
  const code = readFileSync('fixtures/pairs/capture.py', 'utf8');
  await choose(user, code);
  await screen.findByText('Recorded with the run. checkout/capture.py is the same.');
  await choose(user, `${code}# edited\n`);
  await screen.findByText(
    'Recorded with the run. checkout/capture.py has changed since the recording.',
  );
  expect(row(338)?.textContent).toContain('features.append(output');
});

it('opens the line in the editor that the user chooses, where its file is on this machine', async () => {
  const { user } = await show();
  const editor = screen.getByLabelText('Open lines in');
  await user.selectOptions(editor, 'cursor');
  const link = () => screen.getByRole('link', { name: /^Open capture\.py:338 in/ });
  expect(link().getAttribute('href')).toBe('cursor://file/workspace/pairs/capture.py:338');
  await user.type(screen.getByLabelText('Recorded paths that begin with'), '/workspace/');
  await user.type(screen.getByLabelText('are here in'), '/home/me/');
  expect(link().getAttribute('href')).toBe('cursor://file/home/me/pairs/capture.py:338');
  await user.selectOptions(editor, 'own');
  expect(screen.getByText(/^a link such as/)).toBeDefined();
  expect(screen.queryByRole('link', { hidden: true })).toBeNull();
});

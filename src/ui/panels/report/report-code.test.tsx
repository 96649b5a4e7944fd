// @vitest-environment jsdom
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { screen, within } from '@testing-library/react';
import { expect, it } from 'vitest';
import { renderOn } from '../../../testing/render-on.tsx';
import { useFindings, useFindingsRun } from '../../shared/services.ts';
import { CodeExcerpt } from '../../shared/source-code.tsx';
import { ReportForm } from './report-form.tsx';

function Page() {
  useFindingsRun();
  const [line] = useFindings().judgement?.verdict.lines ?? [];
  return (
    <>
      {line && <p>Look at this</p>}
      {line && <CodeExcerpt frame={line} />}
      <ReportForm />
    </>
  );
}

const recorded = () => gunzipSync(readFileSync('fixtures/record/source.pkl.gz'));
const codeBox = () =>
  screen.findByRole<HTMLInputElement>('checkbox', { name: /^Include your code/ });
const box = (name: RegExp) => screen.getByRole<HTMLInputElement>('checkbox', { name });

it('marks the verdict’s line among those around it', async () => {
  await renderOn('leak_forward_hook', <Page />, recorded());
  const code = await screen.findByRole('list', { name: 'Code at capture.py:338' });
  const lines = within(code).getAllByRole('listitem');
  expect(lines).toHaveLength(5);
  const marked = lines.filter((line) => line.getAttribute('aria-current') === 'location');
  expect(marked.map((line) => line.textContent)).toEqual([
    '338    features.append(output.detach().clone())  # keep',
  ]);
});

it('offers recorded code, unless the report leaves something out', async () => {
  const { user } = await renderOn('leak_forward_hook', <Page />, recorded());
  await screen.findByRole('checkbox', { name: /findings name$/ });
  expect((await codeBox()).checked).toBe(true);
  for (const name of [/^Shorten paths/, /^Omit all call stacks/]) {
    await user.click(box(name));
    expect((await codeBox()).disabled).toBe(true);
    expect((await codeBox()).checked).toBe(false);
    await user.click(box(name));
    expect((await codeBox()).checked).toBe(true);
  }
});

it('offers no code where none is known', async () => {
  await renderOn('pairs/leak_forward_hook.python', <Page />);
  await screen.findByRole('checkbox', { name: /^Omit all call stacks/ });
  expect(screen.queryByRole('checkbox', { name: /^Include your code/ })).toBeNull();
  await screen.findByText('Look at this');
  expect(screen.queryByRole('list', { name: /^Code at/ })).toBeNull();
});

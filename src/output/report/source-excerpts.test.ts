import { expect, it } from 'vitest';
import type { FrameView } from '../../device/model/types.ts';
import type { SourceText } from '../../format/snapshot/tables.ts';
import { sourceExcerpts } from './source-excerpts.ts';

const frame = (line: number, kind: FrameView['kind'] = 'user', filename = 'a.py'): FrameView => ({
  name: 'f',
  filename,
  line,
  kind,
  isPlumbing: false,
  extras: undefined,
});
const text: SourceText = {
  filename: 'a.py',
  sha256: 'x',
  origin: 'recording',
  isWhole: true,
  pieces: [{ line: 1, text: Array.from({ length: 40 }, (_, i) => `line ${i + 1}`).join('\n') }],
};
const excerptsOf = (...frames: FrameView[]) =>
  sourceExcerpts({ findings: [{ frame: undefined, userLines: frames }] }, async (filename) =>
    filename === 'a.py' ? text : undefined,
  );

it('keeps three lines around each, without repeating any', async () => {
  const found = await excerptsOf(frame(2), frame(20), frame(24), frame(40));
  expect(found?.files[0]?.pieces.map(({ line, text }) => [line, text.split('\n').length])).toEqual([
    [1, 5],
    [17, 11],
    [37, 4],
  ]);
  expect(found?.files[0]).toMatchObject({ sha256: 'x', isWhole: false });
  expect(found?.files[0]?.pieces[2]?.text).toMatch(/^line 37\n.*line 40$/s);
});

it('keeps the lines of the verdict, and the largest one, where nothing was found', async () => {
  const most = { line: frame(30) };
  const found = await sourceExcerpts(
    { findings: [], verdict: { lines: [frame(2)] }, most },
    async () => text,
  );
  expect(found?.files[0]?.pieces.map(({ line }) => line)).toEqual([1, 27]);
});

it('keeps nothing of other people’s code, lines out of the file, and files without a text', async () => {
  expect(
    await excerptsOf(frame(3, 'framework'), frame(90), frame(0), frame(3, 'user', 'b.py')),
  ).toBeUndefined();
});

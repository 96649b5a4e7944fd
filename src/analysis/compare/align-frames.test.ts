import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawnSide } from '../../testing/sides.ts';
import { alignFrames } from './align-frames.ts';
import type { RunProfile } from './types.ts';

/** 'model.py:3 f' → 'model.py:5 f' for each frame of B that has a counterpart. */
function pairs(a: RunProfile, b: RunProfile): Map<string, string> {
  const { toA } = alignFrames(a, b);
  const text = ({ filename, line, name }: RunProfile['frames'][number]) =>
    `${filename}:${line} ${name}`;
  return new Map(
    b.frames.flatMap((frame, i) => (toA[i] < 0 ? [] : [[text(frame), text(a.frames[toA[i]])]])),
  );
}

/** A file with two functions: `attention` calls three others, `mlp` allocates itself. */
const model = (line: (number: number) => number, file = 'model.py'): string =>
  [
    `+q 1Mi @ops.py:1 query < ${file}:${line(10)} attention < ${file}:${line(40)} forward`,
    `+k 2Mi @ops.py:2 key < ${file}:${line(11)} attention < ${file}:${line(40)} forward`,
    `+v 3Mi @ops.py:3 value < ${file}:${line(12)} attention < ${file}:${line(40)} forward`,
    `+m 4Mi @${file}:${line(20)} mlp < ${file}:${line(41)} forward`,
    `+n 4Mi @${file}:${line(21)} mlp < ${file}:${line(41)} forward`,
  ].join('\n');

const NUMBERS = [10, 11, 12, 20, 21, 40, 41];

describe('lines of an edited file', () => {
  it('are found again after blank lines were added', () => {
    const gaps = fc.array(fc.nat(5), { minLength: 41, maxLength: 41 });
    fc.assert(
      fc.property(gaps, (added) => {
        const moved = (number: number) =>
          number + added.slice(0, number).reduce((total, one) => total + one, 0);
        const found = pairs(drawnSide(model((number) => number)), drawnSide(model(moved)));
        for (const [here, there] of found) {
          const [, file, line] = /^(\S+):(\d+)/.exec(here) ?? [];
          if (file !== 'model.py') continue;
          const before = Number(/:(\d+)/.exec(there)?.[1]);
          expect(moved(before)).toBe(Number(line));
        }
        expect(found.size).toBe(NUMBERS.length + 3);
      }),
      { numRuns: 40 },
    );
  });

  it('follow what they call, not their number, if a line is new', () => {
    const after = model((number) => (number >= 11 ? number + 1 : number)).concat(
      '\n+new 5Mi @norm.py:1 norm < model.py:11 attention < model.py:41 forward',
    );
    const found = pairs(drawnSide(model((number) => number)), drawnSide(after));
    expect(found.get('model.py:12 attention')).toBe('model.py:11 attention');
    expect(found.has('model.py:11 attention')).toBe(false);
  });

  it('are never matched across functions', () => {
    const a = drawnSide('+x 1Mi @model.py:10 encode');
    const b = drawnSide('+x 1Mi @model.py:10 decode');
    expect(pairs(a, b).size).toBe(0);
  });

  it('distinguishes functions of one name that call each other', () => {
    const nested = (shift: number) =>
      `+x 1Mi @m.py:${10 + shift} forward < m.py:${30 + shift} forward
       +y 1Mi @m.py:${11 + shift} forward < m.py:${30 + shift} forward`;
    const found = pairs(drawnSide(nested(0)), drawnSide(nested(20)));
    expect(found.get('m.py:50 forward')).toBe('m.py:30 forward');
    expect(found.get('m.py:30 forward')).toBe('m.py:10 forward');
  });
});

describe('files', () => {
  it('of another checkout, environment or name are the same', () => {
    const text = (script: string, packages: string) =>
      `+x 1Mi @${packages}/torch/nn/linear.py:5 forward < ${script}:8 step < ${script}:9 main`;
    const found = pairs(
      drawnSide(text('/home/a/run/train.py', '/home/a/venv/lib/python3.12/site-packages')),
      drawnSide(text('/work/run/train.py', '/opt/conda/lib/python3.11/site-packages')),
    );
    expect(found.size).toBe(3);
    expect(
      pairs(drawnSide(text('train.py', '/p')), drawnSide(text('train_v2.py', '/p'))).size,
    ).toBe(3);
  });

  it('with the same functions but in a package are not', () => {
    const a = drawnSide('+x 1Mi @/v/site-packages/torch/a.py:5 forward');
    const b = drawnSide('+x 1Mi @/v/site-packages/torch/b.py:5 forward');
    expect(pairs(a, b).size).toBe(0);
  });
});

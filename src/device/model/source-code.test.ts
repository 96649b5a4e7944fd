import { expect, it } from 'vitest';
import { codeLines, linesAround } from './source-code.ts';

it('numbers the lines, whatever ends them', () => {
  const lines = codeLines([
    { line: 1, text: 'a\r\nb\rc\n' },
    { line: 9, text: 'd' },
  ]);
  expect([...lines]).toEqual([
    [1, 'a'],
    [2, 'b'],
    [3, 'c'],
    [4, ''],
    [9, 'd'],
  ]);
});

it('shows characters that would hide or move code', () => {
  const [[, code]] = codeLines([{ line: 1, text: 'if a:\t\u202e# é 👩‍💻\u0007\u2028' }]);
  expect(code).toBe('if a:\t\ufffd# é 👩‍💻\ufffd\ufffd');
});

it('shows a line among others, without their indentation', () => {
  const lines = codeLines([{ line: 5, text: '    def f():\n\n\treturn g(\n        x)' }]);
  expect(linesAround(lines, 7, 2)).toEqual([
    { line: 5, code: 'def f():' },
    { line: 6, code: '' },
    { line: 7, code: 'return g(' },
    { line: 8, code: '    x)' },
  ]);
  expect(linesAround(lines, 4, 2)).toEqual([]);
});

import { expect, test } from 'vitest';
import { noFigureIn } from './own-words.ts';

test.each([
  ["all at PyTorch's defaults\nWarning: 1 event has an action 'Infinity'", undefined],
  ["a key ''it's NaN'' and a key \"undefined\"", undefined],
  ["the functions' names 'a\nNaN' are long", undefined],
  ["all at PyTorch's defaults, NaN GiB live, 'a'", 'NaN'],
  ["a key 'it\n\nNaN GiB live\n\n'", 'NaN'],
  ["PyTorch's peak was Infinity GiB, the program's undefined", 'Infinity'],
])('%j', (text, found) => {
  if (found === undefined) expect(noFigureIn(text)).toBeUndefined();
  else expect(noFigureIn(text)).toContain(found);
});

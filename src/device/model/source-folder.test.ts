import { expect, it } from 'vitest';
import { SourceFolder } from './source-folder.ts';

const file = (path: string, size = 10) => ({ path, size, bytes: async () => new Uint8Array() });
const folder = new SourceFolder('run', [
  file('run/train.py'),
  file('run/models/gpt.py'),
  file('run/old/gpt.py'),
  file('run/a/util.py'),
  file('run/b/util.py'),
  file('run/huge.py', 1e8),
]);

it.each([
  ['/workspace/run/train.py', 'run/train.py'],
  ['C:\\me\\run\\models\\gpt.py', 'run/models/gpt.py'],
  ['/elsewhere/old/gpt.py', 'run/old/gpt.py'],
  // A checkout under another name.
  ['/workspace/other/train.py', 'run/train.py'],
])('finds %s by the folders that it shares', (recorded, found) => {
  expect(folder.find(recorded)?.path).toBe(found);
});

it('finds none if two are equally likely, none has the name, or it is too large', () => {
  expect(folder.find('/c/util.py')).toBeUndefined();
  expect(folder.find('/workspace/run/eval.py')).toBeUndefined();
  expect(folder.find('/workspace/run/huge.py')).toBeUndefined();
});

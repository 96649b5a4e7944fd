import { expect, test } from 'vitest';
import { RECIPES } from './recipes.ts';

test('every section of the file is a recipe', () => {
  expect(RECIPES.map(({ name }) => name)).toHaveLength(21);
  for (const { about, code } of RECIPES) expect([about, code]).not.toContain('');
  expect(RECIPES[0]).toMatchObject({ name: 'A whole run', triedWith: 'PyTorch 2.11' });
  expect(RECIPES[0]?.code).toMatch(/^import torch\n[\s\S]*enabled=None\)$/);
  expect(RECIPES.find(({ name }) => name === 'axolotl')?.triedWith).toBeUndefined();
});

/**
 * The checks of the layers have to fail when they should. A copy of src/ gets violations planted,
 * and each tool has to name the planted file. A green check that nobody has seen fail is worth
 * nothing.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findViolations } from './find-violations.mjs';
import { replaceBetween } from './markdown.mjs';

const root = dirname(import.meta.dirname);

const PLANTED = {
  'core/replay/imports-state.ts': "export { planted } from '../../state/planted.ts';",
  'core/base/uses-dom.ts': 'export const title = (): string => document.title;',
  'core/base/imports-node.ts': "export { readFileSync } from 'node:fs';",
  'core/pickle/imports-above.ts': "export type { PlantedTable } from '../snapshot/planted.ts';",
  'core/snapshot/planted.ts': 'export interface PlantedTable { readonly length: number }',
  'core/device/cycle-one.ts': "export { two } from './cycle-two.ts'; export const one = 1;",
  'core/device/cycle-two.ts': "import { one } from './cycle-one.ts'; export const two = one + 1;",
  'core/device/imports-package.ts': "export { scaleLinear } from 'd3';",
  'core/replay/legal.ts': "import { assert } from '../base/assert.ts'; assert(true, 'legal');",
  'engine/planted.ts': 'export const planted = 1; export type Planted = number;',
  'state/planted.ts': 'export const planted = 1;',
  'state/takes-type.ts':
    "import type { Planted } from '../engine/planted.ts'; const one: Planted = 1; void one;",
  'state/takes-value.ts': "export { planted } from '../engine/planted.ts';",
  'core/pickle/imports-lazily.ts': "export const load = () => import('../snapshot/planted.ts');",
  'core/device/imports-test-help.ts': "export * from '../../testing/planted.ts';",
  'core/device/nowhere.ts': "export * from './no-such-file.ts';",
  'testing/planted.ts': 'export const planted = 1;',
  'unheard-of/planted.ts': 'export const planted = 1;',
  'ui/shared/imports-pickle.tsx':
    "import { PlantedOpcode } from '../../core/pickle/planted.ts';\nexport const Planted = () => <b>{PlantedOpcode}</b>;",
  'ui/shared/starts-worker.ts':
    "export const worker = new Worker(new URL('../../engine/planted.ts', import.meta.url));",
  'ui/shared/imports-roof.ts': "export { planted } from '../shell/planted.ts';",
  'ui/shell/planted.ts': 'export const planted = 1;',
  'ui/plot/imports-view.ts': "export { planted } from '../timeline/planted.ts';",
  'ui/timeline/planted.ts': 'export const planted = 1;',
  'ui/timeline/legal.ts': "export { plot } from '../plot/planted.ts';",
  'ui/plot/planted.ts': 'export const plot = 1;',
  'ui/table/imports-neighbour.ts': "export type { Planted } from '../plot/planted-type.ts';",
  'ui/plot/planted-type.ts': 'export type Planted = number;',
  'ui/unheard-of/planted.ts': 'export const planted = 1;',
  'core/unheard-of/planted.ts': 'export const planted = 1;',
  'core/raster/imports-coloring.ts': "export { planted } from '../coloring/planted.ts';",
  'core/coloring/planted.ts': 'export const planted = 1;',
  'core/pickle/planted.ts': 'export const PlantedOpcode = 46;',
  'core/base/exports.ts':
    'export interface Told { a: number } export const told: Told = { a: 1 }; export type Untold = 1;',
  'core/base/hands-on.ts': "export { told } from './exports.ts';",
} as const;
type Planted = keyof typeof PLANTED;

let copy = '';

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'vramscope-layers-'));
  cpSync(join(root, 'src'), join(copy, 'src'), { recursive: true });
  for (const name of ['tsconfig.base.json', 'tsconfig.core.json', 'package.json']) {
    cpSync(join(root, name), join(copy, name));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction');
  for (const [path, source] of Object.entries(PLANTED)) {
    mkdirSync(join(copy, 'src', dirname(path)), { recursive: true });
    writeFileSync(join(copy, 'src', path), `${source}\n`);
  }
});

afterAll(() => rmSync(copy, { recursive: true, force: true }));

describe('the check of imports', () => {
  let violations: ReturnType<typeof findViolations>['violations'] = [];
  const within = (file: Planted) => violations.filter(({ from }) => from === `src/${file}`);
  const rules = (file: Planted) => within(file).map(({ rule }) => rule);

  beforeAll(() => {
    violations = findViolations(copy).violations;
  });

  it.each<[Planted, string]>([
    ['core/replay/imports-state.ts', 'layer'],
    ['core/base/imports-node.ts', 'layer'],
    ['core/pickle/imports-above.ts', 'layer'],
    ['core/pickle/imports-lazily.ts', 'layer'],
    ['core/device/imports-package.ts', 'layer'],
    ['core/device/imports-test-help.ts', 'layer'],
    ['core/device/cycle-two.ts', 'cycle'],
    ['core/device/nowhere.ts', 'missing'],
    ['unheard-of/planted.ts', 'no-layer'],
    ['ui/unheard-of/planted.ts', 'no-layer'],
    ['core/unheard-of/planted.ts', 'no-layer'],
    ['core/raster/imports-coloring.ts', 'layer'],
    ['ui/shared/imports-roof.ts', 'layer'],
    ['ui/plot/imports-view.ts', 'layer'],
    ['ui/table/imports-neighbour.ts', 'layer'],
    ['state/takes-value.ts', 'types-only'],
    ['ui/shared/imports-pickle.tsx', 'types-only'],
    ['ui/shared/starts-worker.ts', 'types-only'],
  ])('rejects %s (%s)', (file, rule) => {
    expect(rules(file)).toContain(rule);
  });

  it.each<Planted>(['core/replay/legal.ts', 'state/takes-type.ts', 'ui/timeline/legal.ts'])(
    'accepts %s',
    (file) => {
      expect(rules(file).filter((rule) => rule !== 'unused')).toEqual([]);
    },
  );

  it('names exports that nobody uses, those that are only handed on among them', () => {
    const namesIn = (file: Planted) =>
      within(file).flatMap(({ rule, to }) => (rule === 'unused' ? [to] : []));
    // Told is what told is, and told is imported.
    expect(namesIn('core/base/exports.ts')).toEqual(['Untold']);
    expect(namesIn('core/base/hands-on.ts')).toEqual(['told']);
  });

  it('does not take an empty folder for a clean one', () => {
    const empty = mkdtempSync(join(tmpdir(), 'vramscope-empty-'));
    mkdirSync(join(empty, 'src'));
    expect(() => findViolations(empty)).toThrow('No TypeScript');
    rmSync(empty, { recursive: true });
  });
});

describe('the TypeScript project of core', () => {
  let diagnostics = '';

  beforeAll(() => {
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const args = [tsc, '-p', 'tsconfig.core.json', '--noEmit', '--pretty', 'false'];
    diagnostics = spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' }).stdout;
  });

  it.each<[Planted, string]>([
    ['core/replay/imports-state.ts', 'TS6307'],
    ['core/base/uses-dom.ts', 'TS2584'],
    ['core/base/imports-node.ts', 'TS2591'],
  ])('rejects %s (%s)', (file, code) => {
    const lines = diagnostics.split('\n').filter((line) => line.startsWith(`src/${file}`));
    expect(lines.join('\n')).toContain(code);
  });

  it('accepts a legal import', () => {
    expect(diagnostics).not.toContain('src/core/replay/legal.ts');
  });
});

describe('the table in docs/architecture.md', () => {
  it('is replaced between its markers, and missing markers are an error', () => {
    const text = 'a\n<!-- t:start -->\nold\n<!-- t:end -->\nb';
    expect(replaceBetween(text, 't', 'new')).toBe('a\n<!-- t:start -->\nnew\n<!-- t:end -->\nb');
    expect(() => replaceBetween('a', 't', 'new')).toThrow('No <!-- t:start -->');
  });
});

/**
 * Each wall of the house has to fail when it should: a green check that nobody has seen fail is worth nothing.
 * A skeleton of src/ (the projects, no code) gets one violation a wall, and the tool that holds the wall has to name it.
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = dirname(import.meta.dirname);

/** Floors from the ground up: each with one that it must not know. TypeScript's projects hold them. */
const ABOVE = {
  base: 'format',
  format: 'allocator',
  allocator: 'device',
  device: 'draw',
  draw: 'analysis',
  analysis: 'output',
  output: 'worker',
  worker: 'state',
  cli: 'ui',
  state: 'ui',
} as const;

/** What TypeScript rejects besides, by file: its text and the error. */
const UNTYPED: Readonly<Record<string, readonly [string, string]>> = {
  'base/uses-dom.ts': ['export const title = (): string => document.title;', 'TS2584'],
  'analysis/uses-node.ts': ["export { readFileSync } from 'node:fs';", 'TS2591'],
};

/** Walls that Biome holds, within a floor and between a page and its worker: a file and what it may not import. */
const FORBIDDEN: Readonly<Record<string, string>> = {
  'format/pickle/knows-pytorch.ts': '../snapshot/planted.ts',
  'device/model/uses-react.ts': 'react',
  'output/report/uses-node.ts': 'node:fs',
  'draw/timeline/takes-test-help.ts': '../../testing/planted.ts',
  'worker/uses-react.ts': 'react',
  'cli/uses-react.ts': 'react',
  'cli/reaches-session.ts': '../worker/session.ts',
  'state/reaches-session.ts': '../worker/session.ts',
  'ui/plot/reaches-session.ts': '../../worker/session.ts',
  'ui/views/timeline/reaches-handler.ts': '../../../worker/handlers/timeline.ts',
  'state/reaches-device.ts': '../worker/open-device.ts',
  'ui/shared/knows-panel.ts': '../panels/search/planted.ts',
  'ui/panels/search/knows-view.ts': '../../views/timeline/planted.ts',
  'ui/views/timeline/knows-view.ts': '../events/planted.ts',
  'ui/views/timeline/knows-page.ts': '../../pages/shell/planted.ts',
};
/** Files that wait or make threads by themselves. Biome leaves these to base/task.ts and src/worker. */
const BY_HAND: Readonly<Record<string, string>> = {
  'ui/shared/waits.ts': 'setTimeout(() => undefined, 1);',
  'cli/waits.ts': 'setImmediate(() => undefined);',
  'state/makes-channel.ts': 'export const { port1 } = new MessageChannel();',
};
const ALLOWED: Readonly<Record<string, string>> = {
  'state/asks-client.ts': '../worker/client.ts',
  'ui/pages/ranks/asks-client.ts': '../../../worker/ranks/client.ts',
  'ui/views/timeline/knows-protocol.ts': '../../../worker/protocol.ts',
  'ui/views/timeline/uses-plot.ts': '../../plot/planted.ts',
  'ui/pages/shell/shows-view.ts': '../../views/timeline/planted.ts',
};

let copy = '';
let typescript = '';
let biome = '';
let knip = '';

function plant(name: string, text: string): void {
  const path = join(copy, 'src', name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${text}\n`);
}

/** @param program its path below node_modules; run in the skeleton, and what it says is given back */
function runTool(program: string, ...args: readonly string[]): string {
  const command = [join(root, 'node_modules', program), ...args];
  const { stdout, stderr } = spawnSync(process.execPath, command, { cwd: copy, encoding: 'utf8' });
  return stdout + stderr;
}

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'vramscope-walls-'));
  for (const name of [
    'tsconfig.base.json',
    'biome.json',
    'knip.json',
    'package.json',
    'index.html',
  ])
    cpSync(join(root, name), join(copy, name));
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const floors = [...Object.keys(ABOVE), 'ui'];
  for (const floor of floors) {
    plant(`${floor}/planted.ts`, `export const ${floor} = 1;`);
    cpSync(join(root, 'src', floor, 'tsconfig.json'), join(copy, 'src', floor, 'tsconfig.json'));
  }
  for (const [floor, above] of Object.entries(ABOVE))
    plant(`${floor}/knows-above.ts`, `export { ${above} } from '../${above}/planted.ts';`);
  for (const [name, [text]] of Object.entries(UNTYPED)) plant(name, text);
  for (const [name, text] of Object.entries(BY_HAND)) plant(name, text);
  for (const [name, from] of Object.entries({ ...FORBIDDEN, ...ALLOWED }))
    plant(name, `export * from '${from}';`);
  plant('base/cycle-one.ts', "export { two } from './cycle-two.ts';\nexport const one = 1;");
  plant(
    'base/cycle-two.ts',
    "import { one } from './cycle-one.ts';\n\nexport const two = one + 1;",
  );
  plant('base/planted.ts', 'export const base = 1;\nexport const unused = 2;');
  plant('headless.d.ts', 'declare class TextDecoder {}');
  plant('main.tsx', "import { base } from './base/planted.ts';\n\nbase.toFixed();");
  const projects = floors.map((floor) => `src/${floor}`);
  typescript = runTool('typescript/bin/tsc', '-b', '--pretty', 'false', ...projects);
  biome = runTool(
    '@biomejs/biome/bin/biome',
    'lint',
    '--vcs-enabled=false',
    '--max-diagnostics=none',
    '--reporter=github',
    'src',
  );
  knip = runTool('knip/bin/knip.js', '--include', 'exports,files');
}, 60_000);

afterAll(() => rmSync(copy, { recursive: true }));

const said = (output: string, name: string): string =>
  output
    .split('\n')
    .filter((line) => line.includes(`src/${name}`))
    .join('\n');

describe('the floors', () => {
  it.each(Object.entries(ABOVE))('%s knows nothing of %s', (floor) => {
    expect(said(typescript, `${floor}/knows-above.ts`)).toContain('TS6307');
  });

  it.each(Object.entries(UNTYPED))('%s is rejected', (name, [, code]) => {
    expect(said(typescript, name)).toContain(code);
  });

  it('are all of src but what puts them together and the help for tests', () => {
    const folders = readdirSync(join(root, 'src'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    expect(folders.sort()).toEqual([...Object.keys(ABOVE), 'testing', 'ui'].sort());
  });
});

describe('the walls within', () => {
  it.each(Object.entries(FORBIDDEN))('%s may not import %s', (name) => {
    expect(said(biome, name)).toContain('noRestrictedImports');
  });

  it.each(Object.keys(BY_HAND))('%s may not do so by itself', (name) => {
    expect(said(biome, name)).toContain('noRestrictedGlobals');
  });

  it.each(Object.entries(ALLOWED))('%s may import %s', (name) => {
    expect(said(biome, name)).not.toContain('noRestrictedImports');
  });

  it('allow no circle', () => {
    expect(said(biome, 'base/cycle-two.ts')).toContain('noImportCycles');
  });
});

it('what nobody uses is named: a file, and an export of one that is used', () => {
  expect(said(knip, 'ui/planted.ts')).not.toBe('');
  expect(said(knip, 'base/planted.ts')).toMatch(/^unused /);
});

/** What comes from elsewhere, and what may publish: rules that a review would otherwise have to keep in mind. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
}

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const lock: Record<string, { integrity?: string }> = JSON.parse(
  readFileSync('package-lock.json', 'utf8'),
).packages;
const workflows = readdirSync('.github/workflows').map((name) => {
  const workflow: Workflow = parse(readFileSync(`.github/workflows/${name}`, 'utf8'));
  return [name, workflow] as const;
});

test('what src/ imports is among `dependencies`, so that an audit looks at it', () => {
  const named = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => /(?<!\.test)\.tsx?$/.test(name) && !name.startsWith('testing'))
    .flatMap((name) => [
      ...readFileSync(`src/${name}`, 'utf8').matchAll(
        /(?:from |import |import\()'((?:@[\w-]+\/)?[a-z][\w-]*)(?:\/[\w./-]*)?'/g,
      ),
    ])
    .map(([, name = '']) => name);
  expect([...new Set(named)].sort()).toEqual(Object.keys(manifest.dependencies));
});

test('each package has its checksum in the lockfile, those of other systems too', () => {
  const packages = Object.entries(lock).filter(([path]) => path !== '');
  expect(packages.length).toBeGreaterThan(500);
  expect(packages.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([]);
});

test.each(['action.yml', ...workflows.map(([name]) => `.github/workflows/${name}`)])(
  '%s pins what it uses by commit, with the version beside it',
  (path) => {
    const uses = readFileSync(path, 'utf8').match(/^.*\buses:.*$/gm) ?? [];
    for (const line of uses) expect(line).toMatch(/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    expect(uses.length > 0).toBe(path !== 'action.yml');
  },
);

test('what ships is audited before it is published, by a job that publishes nothing', () => {
  const release = workflows.find(([name]) => name === 'release.yml')?.[1];
  const commands = release?.jobs.build.steps.map(({ run }) => run);
  const audit = commands?.findIndex((run) => run?.startsWith('npm audit --omit=dev')) ?? -1;
  expect(audit).toBeGreaterThan(-1);
  expect(audit).toBeLessThan(commands?.indexOf('npm test') ?? -1);
});

test.each(workflows)(
  '%s: a job that may write or sign runs no packages and no tests',
  (_, workflow) => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    for (const [name, { permissions = {}, steps }] of Object.entries(workflow.jobs)) {
      if (Object.keys(permissions).length === 0) continue;
      const commands = steps.map(({ run = '' }) => run).join('\n');
      expect([name, /npm (ci|install|test|run)|npx/.test(commands)]).toEqual([name, false]);
    }
  },
);

test('the action runs the version that it was released with', () => {
  expect(parse(readFileSync('action.yml', 'utf8')).inputs.version.default).toBe(manifest.version);
});

const TEST = /\b(src|e2e|scripts|python)\/[\w./-]+\.(test|spec)\.ts|python\/tests\/\w+\.py/g;

test('each promise names a test that there is', () => {
  const security = readFileSync('SECURITY.md', 'utf8');
  const named = (security + readFileSync('docs/reliability.md', 'utf8')).match(TEST) ?? [];
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((path) => !existsSync(path))).toEqual([]);
  const promises = security.match(/^\|(?! attacker|[ -]+---).*\|$/gm) ?? [];
  expect(promises.length).toBeGreaterThan(14);
  expect(promises.filter((row) => row.match(TEST) === null)).toEqual([]);
});

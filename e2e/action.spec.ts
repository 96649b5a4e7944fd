/** action.yml: runs its steps as GitHub's runner would, with scripts in place of `npx` and `gh`. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from '@playwright/test';
import { parse } from 'yaml';

interface Step {
  readonly id?: string;
  readonly name: string;
  readonly if?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly run: string;
}

const action: {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly runs: { readonly steps: readonly Step[] };
} = parse(readFileSync('action.yml', 'utf8'));

const { version }: { readonly version: string } = JSON.parse(readFileSync('package.json', 'utf8'));

let folder: string;

test.beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vramscope-action-'));
  // Uses the package that was built; its arguments are checked.
  script(
    'npx',
    `[ "$1 $2" = "--yes vramscope@${version}" ] || exit 9; shift 2; exec "${process.execPath}" "${resolve('bin/vramscope.mjs')}" "$@"`,
  );
  script(
    'gh',
    // The answer to the query for our comment, and the comment that is then written.
    `if [ "$2" = graphql ]; then echo "$@" > "$RUNNER_TEMP/gh-question"; cat "$RUNNER_TEMP/own-comment" 2>/dev/null || true; exit; fi
    echo "$@" > "$RUNNER_TEMP/gh-arguments"; for last; do :; done; cp "\${last#body=@}" "$RUNNER_TEMP/comment.md"`,
  );
});
test.afterEach(() => rmSync(folder, { recursive: true }));

function script(name: string, body: string): void {
  writeFileSync(join(folder, name), `#!/usr/bin/env bash\n${body}\n`);
  chmodSync(join(folder, name), 0o755);
}

const read = (name: string): string | undefined => {
  try {
    return readFileSync(join(folder, name), 'utf8');
  } catch {
    return undefined;
  }
};

interface Outcome {
  readonly exitCode: number;
  /** Names of the steps that ran. */
  readonly ran: readonly string[];
  readonly output: string;
}

/** Runs the steps one after the other; expressions are those that action.yml uses, looked up by name. */
function runAction(inputs: Readonly<Record<string, string>>, event: string): Outcome {
  const values: Record<string, string> = {
    'github.event_name': event,
    'github.token': 'token',
    'github.repository': 'someone/model',
    'github.event.pull_request.number': '7',
    'github.workflow': 'gpu-memory',
    'github.job': 'memory',
  };
  for (const [name, { default: value = '' }] of Object.entries(action.inputs)) {
    values[`inputs.${name}`] = inputs[name] ?? value;
  }
  const filled = (text: string) =>
    text.replace(/\$\{\{\s*([\w.-]+)\s*\}\}/g, (whole, name: string) => values[name] ?? whole);
  const holds = (condition: string) =>
    condition.split(' && ').every((part) => {
      const [, name = '', wanted] = /^([\w.-]+) == '(.*)'$/.exec(part) ?? [];
      expect(wanted, `a condition that this test can read: ${part}`).toBeDefined();
      return values[name] === wanted;
    });
  const ran: string[] = [];
  let output = '';
  for (const step of action.runs.steps) {
    if (step.if !== undefined && !holds(step.if)) continue;
    ran.push(step.name);
    const env: Record<string, string | undefined> = {
      ...process.env,
      PATH: `${folder}:${process.env.PATH}`,
      RUNNER_TEMP: folder,
      GITHUB_OUTPUT: join(folder, 'outputs'),
      GITHUB_STEP_SUMMARY: join(folder, 'summary.md'),
    };
    for (const [name, text] of Object.entries(step.env ?? {})) env[name] = filled(text);
    // As GitHub runs `shell: bash`.
    const options = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step.run];
    const { status, stdout, stderr } = spawnSync('bash', options, { env, encoding: 'utf8' });
    output += stdout + stderr;
    if (status !== 0) return { exitCode: status ?? -1, ran, output };
    for (const line of (read('outputs') ?? '').split('\n')) {
      const [name, value] = line.split('=');
      if (value !== undefined) values[`steps.${step.id}.outputs.${name}`] = value;
    }
  }
  return { exitCode: 0, ran, output };
}

const BASE = resolve('fixtures/pairs/eval_inference_mode.python.pickle.gz');
const AGAIN = resolve('fixtures/pairs/eval_inference_mode.all.pickle.gz');
const GRAPH = resolve('fixtures/pairs/eval_without_no_grad.python.pickle.gz');

test('the same work passes, and the comment says so', () => {
  const outcome = runAction({ baseline: BASE, snapshot: AGAIN }, 'pull_request');
  expect(outcome).toMatchObject({ exitCode: 0, ran: ['Compare', 'Comment'] });
  expect(read('comment.md')?.replace(/^<!-- vramscope [0-9a-f]{16} -->\n/, '')).toBe(
    read('summary.md'),
  );
  expect(read('gh-arguments')).toMatch(/^api repos\/someone\/model\/issues\/7\/comments /);
});

test('updates this job’s own comment, and no other', () => {
  writeFileSync(join(folder, 'own-comment'), '42\n');
  runAction({ baseline: BASE, snapshot: AGAIN }, 'pull_request');
  expect(read('gh-arguments')).toMatch(
    /^api --method PATCH repos\/someone\/model\/issues\/comments\/42 /,
  );
  const [marker = 'none'] = read('comment.md')?.split('\n') ?? [];
  // The query asks for the marker, and only for the requester's own comments.
  expect(read('gh-question')).toContain(`viewerDidAuthor and (.body | startswith("${marker}"))`);
});

test('kept graphs fail, after the comment that names the lines', () => {
  const outcome = runAction({ baseline: BASE, snapshot: GRAPH }, 'pull_request');
  expect(outcome).toMatchObject({ exitCode: 1, ran: ['Compare', 'Comment', 'Gate'] });
  expect(outcome.output).toContain('::error::');
  expect(read('comment.md')).toMatch(/allocated:\+2%/);
  expect(read('comment.md')).toMatch(/\.py:\d+/);
});

test('several gates, no comment, and a gate that allows it', () => {
  const loose = {
    baseline: BASE,
    snapshot: GRAPH,
    comment: 'false',
    'fail-on': 'allocated:+500%\nactive:+500%\n',
  };
  expect(runAction(loose, 'pull_request')).toMatchObject({ exitCode: 0, ran: ['Compare'] });
  const strict = { ...loose, 'fail-on': 'allocated:+500%\nactive:+1%\n' };
  expect(runAction(strict, 'push')).toMatchObject({ exitCode: 1, ran: ['Compare', 'Gate'] });
  expect(read('comment.md')).toBeUndefined();
});

test('files that cannot be compared fail with the reason, and nothing is posted', () => {
  const outcome = runAction({ baseline: BASE, snapshot: '/nowhere.pickle' }, 'pull_request');
  expect(outcome).toMatchObject({ exitCode: 3, ran: ['Compare'] });
  expect(outcome.output).toContain('No such file');
  expect(read('comment.md')).toBeUndefined();
});

/**
 * A machine with nothing installed, for tests of installers: an empty home, and a PATH of one folder that holds what
 * the test puts there.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface BareMachine {
  readonly folder: string;
  /** Puts a shell script into `bin`, the only folder on the PATH. No other program can be found. */
  add(name: string, script: string): void;
  /** Runs a Node script as root would, and resolves to its output and exit code. */
  run(script: string, env?: NodeJS.ProcessEnv): Promise<Outcome>;
  /** What its scripts wrote to `$LOG`. */
  log(): string;
  remove(): void;
}

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const AS_ROOT = 'data:text/javascript,process.getuid = () => 0';

export function bareMachine(): BareMachine {
  const folder = mkdtempSync(join(tmpdir(), 'vramscope-bare-'));
  const bin = join(folder, 'bin');
  const log = join(folder, 'log');
  mkdirSync(bin);
  const own = { PATH: bin, BIN: bin, HOME: join(folder, 'home'), LOG: log };
  return {
    folder,
    add: (name, script) => writeFileSync(join(bin, name), `#!/bin/sh\n${script}`, { mode: 0o755 }),
    async run(script, env) {
      const args = ['--import', AS_ROOT, script];
      const child = spawn(process.execPath, args, { env: { ...own, ...env } });
      const printed = { stdout: '', stderr: '' };
      for (const name of ['stdout', 'stderr'] as const)
        child[name].on('data', (piece) => {
          printed[name] += piece;
        });
      const code = await new Promise<number | null>((done) => child.once('close', done));
      return { code, ...printed };
    },
    log: () => (existsSync(log) ? readFileSync(log, 'utf8') : ''),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

/** The project's folder. */
export const PROJECT = dirname(dirname(import.meta.dirname));

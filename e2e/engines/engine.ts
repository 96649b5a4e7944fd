/** A browser that Playwright does not drive, and the few operations that the walk needs. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** A WebDriver input source with its actions, step by step. Both protocols take the same. */
export interface InputSource {
  readonly type: 'pointer' | 'wheel' | 'key';
  readonly id: string;
  readonly actions: readonly Readonly<Record<string, unknown>>[];
}

export interface Engine {
  /** Waits until the page has loaded. */
  goto(url: string): Promise<void>;
  /** Calls a function in the page. It must not use anything from outside; its promise is awaited. */
  evaluate<Args extends readonly unknown[], Result>(
    call: (...args: Args) => Result | Promise<Result>,
    ...args: Args
  ): Promise<Result>;
  /** Presses, moves and scrolls like a user: real browser events. */
  perform(sources: readonly InputSource[]): Promise<void>;
  /** Gives a file to the first `<input type="file">`. */
  upload(path: string): Promise<void>;
  /** The folder where the browser saves files. */
  readonly downloads: string;
  /** "Firefox 140.1" */
  readonly version: string;
  /** Resident memory of all its processes; what they share counts in each. */
  residentBytes(): number;
  close(): Promise<void>;
}

/** What is needed to start one engine. The folder is empty, and removed at the end. */
export type StartEngine = (home: string) => Promise<Engine>;

/** A busy machine may take long to start a browser; after this time it has failed. */
export const START_MS = 60_000;
const ATTEMPTS = 2;

/** On a busy machine a browser sometimes fails to start, so starting is tried twice; nothing else is. */
export async function startEngine(start: StartEngine): Promise<Engine> {
  for (let attempt = 1; ; attempt++) {
    const home = mkdtempSync(join(tmpdir(), 'vramscope-engine-'));
    const remove = () => rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    try {
      const engine = await start(home);
      return { ...engine, close: () => engine.close().finally(remove) };
    } catch (error) {
      remove();
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** Called repeatedly with everything that the program has printed. */
  readonly isReady: (printed: string) => Promise<boolean>;
  readonly env?: Readonly<Record<string, string>>;
}

export interface StartedProgram {
  /** On either stream, and on descriptor 3. */
  printed(): string;
  /** Resident memory of the program and everything it started. */
  residentBytes(): number;
  /** Ends the program and everything it started. */
  end(): Promise<void>;
}

/** Starts a program and waits until it is ready. */
export async function startProgram(program: Program): Promise<StartedProgram> {
  const { command, args, isReady, env } = program;
  const child = spawn(command, args, {
    detached: true,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  let printed = '';
  let fault = '';
  for (const stream of child.stdio.slice(1)) {
    stream?.on('data', (bytes: Buffer) => {
      printed += bytes.toString();
    });
  }
  child.once('error', (error) => {
    fault = error.message;
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const endNow = () => endGroup(child);
  // An interrupted run leaves no browser behind.
  process.once('exit', endNow);
  const end = async () => {
    process.off('exit', endNow);
    endNow();
    await closed;
  };
  for (const startMs = performance.now(); !(await isReady(printed)); await setTimeout(50)) {
    if (child.exitCode !== null) fault = `exit code ${child.exitCode}`;
    if (performance.now() - startMs > START_MS) fault = `not ready within ${START_MS} ms`;
    if (fault === '') continue;
    await end();
    throw new Error(`${command} did not start: ${fault}\n${printed}`);
  }
  return { printed: () => printed, residentBytes: () => residentBytes(child), end };
}

/** It and the processes that it starts are one process group. */
function residentBytes({ pid }: ChildProcess): number {
  const lines = execFileSync('ps', ['-eo', 'pgid=,rss='], { encoding: 'utf8' }).split('\n');
  const own = lines.map((line) => line.trim().split(/ +/).map(Number));
  return own.reduce((sum, [group, kib = 0]) => (group === pid ? sum + kib * 1024 : sum), 0);
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

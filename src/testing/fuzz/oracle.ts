/** CPython's unpickler, where python3 is there: what a pickle says, by a program that is not ours. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { uint32 } from '../write-pickle.ts';

/** action, address, size, stream, time, frames or -1, category */
export type EventFigures = readonly [string, string, string, string, string, number, string];
/** device, address, total size, and of each block address, size and state */
export type SegmentFigures = readonly [
  string,
  string,
  string,
  readonly (readonly [string, string, string])[],
];

export interface Figures {
  readonly traces: readonly (readonly EventFigures[])[];
  readonly segments: readonly SegmentFigures[];
}

export type OracleAnswer =
  | Figures
  /** Unpickled, and no snapshot. */
  | { readonly none: true }
  /** CPython refuses it, too. */
  | { readonly refused: string }
  /** Something in it has no such figure: a size that is a text. */
  | { readonly odd: string };

export class Oracle {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting: ((answer: OracleAnswer) => void)[] = [];

  private constructor(script: string) {
    this.#child = spawn('python3', [script]);
    this.#child.stderr.resume();
    createInterface(this.#child.stdout).on('line', (line) => {
      this.#waiting.shift()?.(JSON.parse(line) as OracleAnswer);
    });
  }

  /** Undefined where there is no python3. */
  static start(script = 'src/testing/fuzz/oracle.py'): Oracle | undefined {
    return spawnSync('python3', ['--version']).status === 0 ? new Oracle(script) : undefined;
  }

  ask(pickle: Uint8Array): Promise<OracleAnswer> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#child.stdin.write(Uint8Array.from(uint32(pickle.length)));
      this.#child.stdin.write(pickle);
    });
  }

  close(): void {
    this.#child.stdin.end();
  }
}

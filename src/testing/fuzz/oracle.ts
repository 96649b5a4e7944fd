/** CPython's unpickler, if python3 is installed: an independent reading of the same pickle. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { uint32 } from '../write-pickle.ts';

/** action, address, size, stream, time, frames or -1, category */
export type EventFigures = readonly [string, string, string, string, string, number, string];
/** device, address, total size, and the address, size and state of each block */
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
  /** Unpickled, but not a snapshot. */
  | { readonly none: true }
  /** CPython refuses it too. */
  | { readonly refused: string }
  /** Some figure in it is not a number: a size that is a text. */
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

  /** Undefined without python3. */
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

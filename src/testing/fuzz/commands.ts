/** Runs every command on one file, as a user or an agent would. Each must answer with figures, or refuse in words. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_ANSWER_BYTES, refusalText } from '../../cli/mcp/answer.ts';
import { answerQuestion, TOOLS } from '../../cli/mcp/tools.ts';
import { EXPORT_KINDS } from '../../output/export/exports.ts';
import { cli } from '../cli-run.ts';
import { sampleSnapshot, writePickle } from '../write-pickle.ts';
import { around, noFigureIn } from './own-words.ts';

const PAGE = '<!doctype html><meta charset="utf-8" />';
/** Must not occur in any text. */
const UNSEEN = /[^\P{Cc}\n\t]|\p{Cf}/u;
/** Commands and exports that write JSON. */
const JSON_FILES = new Set(['summarize', 'perfetto', 'speedscope']);
/** The last table of a comparison, whose cells are words from the file. */
const SETTINGS = /^(### )?Settings\n[\s\S]*/m;

/** The faulty place; undefined if there is none. */
const wrongIn = (text: string): string | undefined =>
  around(UNSEEN, text) ?? noFigureIn(text.replace(SETTINGS, ''));

export class Commands {
  readonly #folder = mkdtempSync(join(tmpdir(), 'vramscope-fuzz-'));
  readonly #file = join(this.#folder, 'mutant_rank0.pickle');
  readonly #well = join(this.#folder, 'well_rank1.pickle');
  readonly #output = join(this.#folder, 'output');

  readonly #onCommand: () => void;

  /** @param onCommand called before each command, since the time limit is per command */
  constructor(onCommand: () => void = () => undefined) {
    this.#onCommand = onCommand;
    writeFileSync(this.#well, writePickle(sampleSnapshot()));
    writeFileSync(join(this.#folder, 'vramscope.html'), PAGE);
  }

  /** Which command failed, and how; undefined if all went well. Crashes are thrown unchanged. */
  async fault(bytes: Uint8Array): Promise<string | undefined> {
    writeFileSync(this.#file, bytes);
    const [file, well] = [this.#file, this.#well];
    const printed = [
      ['analyze', file],
      ['analyze', file, '--json'],
      ['analyze', file, '--markdown'],
      ['whatif', file],
      ['compare', file, well, '--markdown'],
      ['compare', well, file],
      ['ranks', file, well],
      ['stats', file, '--json', '--partial'],
    ];
    const written = [
      ['summarize', file],
      ['report', file],
      ...EXPORT_KINDS.map((kind) => ['export', file, '--as', kind]),
    ].map((args) => [...args, '-o', this.#output, '--force']);
    for (const args of [...printed, ...written]) {
      const fault = await this.#run(args);
      if (fault !== undefined) return `${args[0]} ${args.slice(2).join(' ')}: ${fault}`;
    }
    return this.#asAgent();
  }

  close(): void {
    rmSync(this.#folder, { recursive: true });
  }

  async #run(args: readonly string[]): Promise<string | undefined> {
    this.#onCommand();
    rmSync(this.#output, { force: true });
    const { exitCode, out, error } = await cli(args, undefined, this.#folder);
    if (exitCode !== 0 && exitCode !== 3) return `exit code ${exitCode}: ${error}`;
    if (exitCode === 3 && !/^vramscope: [^\n]+\n$/.test(error)) return `not one line: ${error}`;
    if (exitCode === 3 && existsSync(this.#output)) return 'a file is left of what failed';
    if (readdirSync(this.#folder).some((name) => name.endsWith('.tmp')))
      return 'half a file is left';
    if (exitCode === 0 && args.includes('--json')) return problemOfJson(out) ?? around(UNSEEN, out);
    if (exitCode === 0 && args.some((arg) => JSON_FILES.has(arg)))
      return problemOfJson(readFileSync(this.#output, 'utf8'));
    return wrongIn(out);
  }

  async #asAgent(): Promise<string | undefined> {
    for (const name of Object.keys(TOOLS)) {
      const input = { file: this.#file, ...(name === 'compare' && { other: this.#well }) };
      this.#onCommand();
      let isError = false;
      const text = await answerQuestion({ tool: name, input }).catch((error: unknown) => {
        isError = true;
        return refusalText(error);
      });
      if (Buffer.byteLength(text) > DEFAULT_ANSWER_BYTES) return `mcp ${name}: ${text.length} long`;
      const problem = isError ? wrongIn(text) : (problemOfJson(text) ?? around(UNSEEN, text));
      if (problem !== undefined) return `mcp ${name}: ${problem} in ${text.slice(0, 300)}`;
    }
    return undefined;
  }
}

/** Unknown figures must be null. The sentences in it are those of the other forms. */
function problemOfJson(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return String(error);
  }
}

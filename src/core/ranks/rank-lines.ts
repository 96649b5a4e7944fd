/** One rank's memory by line of the program, so that ranks can be compared line by line. */
import { type FrameReport, frameLabel } from '../device/frame-text.ts';
import type { RankSummary } from '../summary-file/types.ts';

/** What a line holds at the rank's peak of allocated bytes. */
export interface LineUse {
  readonly bytes: number;
  readonly count: number;
  /** The user's line of its largest call site. */
  readonly frame: FrameReport | null;
  readonly label: string;
  /** What its largest call site holds: 'activations'. */
  readonly class: string | null;
}

export const NO_USE: LineUse = { bytes: 0, count: 0, frame: null, label: '', class: null };

const known = new WeakMap<RankSummary, RankLines>();

/** Made once for each summary: files come in one by one, and the job is looked at again each time. */
export function linesOf(summary: RankSummary): RankLines {
  const found = known.get(summary) ?? new RankLines(summary);
  known.set(summary, found);
  return found;
}

class RankLines {
  readonly summary: RankSummary;
  /** By key of the line; those that the summary lists. */
  readonly uses: ReadonlyMap<string, LineUse>;
  /** Allocations over the recording, by key: all lines, or the first ones by key. */
  readonly allocations: ReadonlyMap<string, number>;
  /** Line of each listed call site. */
  readonly #lineOfSite: ReadonlyMap<string, string>;
  #regular: ReadonlySet<string> | undefined;

  constructor(summary: RankSummary) {
    this.summary = summary;
    const { callSites, program } = summary;
    const uses = new Map<string, LineUse>();
    // The largest call site comes first, so it names the line.
    for (const { line, peakBytes, peakCount, frame, label, class: own } of callSites) {
      const known = uses.get(line);
      uses.set(line, {
        bytes: (known?.bytes ?? 0) + peakBytes,
        count: (known?.count ?? 0) + peakCount,
        frame: known?.frame ?? frame,
        label: known?.label ?? (frame === null ? label : frameLabelOf(frame)),
        class: known?.class ?? own,
      });
    }
    this.uses = uses;
    this.allocations = new Map(program.keys.map((key, i) => [key, program.allocations[i] ?? 0]));
    this.#lineOfSite = new Map(callSites.map(({ key, line }) => [key, line]));
  }

  use(line: string): LineUse {
    return this.uses.get(line) ?? NO_USE;
  }

  lineOfSite(site: string): string | undefined {
    return this.#lineOfSite.get(site);
  }

  /** The last key that is listed: beyond it nothing is known of a program with more lines than fit. */
  get lastKey(): string | undefined {
    const { count, keys } = this.summary.program;
    return count > keys.length ? keys.at(-1) : undefined;
  }

  /**
   * Lines that are a part of what the rank does all the time: they allocate in nearly every step, or hold
   * memory at the peak. What is left out is met by chance: a log line, a retry.
   */
  get regular(): ReadonlySet<string> {
    this.#regular ??= this.#findRegular();
    return this.#regular;
  }

  #findRegular(): ReadonlySet<string> {
    const steps = this.summary.steps?.count ?? 0;
    const least = 0.01 * (this.summary.peak.allocatedBytes.bytes ?? 0);
    const regular = new Set<string>();
    for (const [key, count] of this.allocations) {
      if (count >= 0.8 * steps || this.use(key).bytes > least) regular.add(key);
    }
    return regular;
  }
}

export type { RankLines };

/** 'train.py:21 (step)' */
export function frameLabelOf({ file, line, name }: FrameReport): string {
  return frameLabel({ filename: file, line, name });
}

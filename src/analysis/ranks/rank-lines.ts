/** One rank's memory by program line, so that ranks can be compared line by line. */
import { weakMemoized } from '../../base/collections.ts';
import { fileName } from '../../base/file-names.ts';
import { classLabel } from '../../device/classes/types.ts';
import { type FrameReport, frameLabel } from '../../device/model/frame-text.ts';
import type { RankSummary, SummaryFinding } from '../summary-file/types.ts';

/** What a line holds at the rank's peak of allocated bytes. */
export interface LineUse {
  readonly bytes: number;
  readonly count: number;
  /** The user line of its largest call site. */
  readonly frame: FrameReport | null;
  readonly label: string;
  /** The class of its largest call site: 'activations'. */
  readonly class: string | null;
}

const NO_USE: LineUse = { bytes: 0, count: 0, frame: null, label: '', class: null };

/** Cached by summary: files arrive one by one, and each time the whole job is analysed again. */
export const linesOf = weakMemoized(rankLines);

export type RankLines = ReturnType<typeof rankLines>;

function rankLines(summary: RankSummary) {
  const { callSites, program, findings, steps, peak, ooms, classes } = summary;
  const { count, keys } = program;
  /** Peak of allocated bytes; 0 if not known. */
  const peakBytes = peak.allocatedBytes.bytes ?? 0;
  /** By line key; only lines that the summary lists. */
  const uses = new Map<string, LineUse>();
  // The largest call site comes first, so it names the line.
  for (const { line, peakBytes, peakCount, frame, label, class: own } of callSites) {
    const first = uses.get(line);
    uses.set(line, {
      bytes: (first?.bytes ?? 0) + peakBytes,
      count: (first?.count ?? 0) + peakCount,
      frame: first?.frame ?? frame,
      label: first?.label ?? (frame === null ? label : frameLabelOf(frame)),
      class: first?.class ?? own,
    });
  }
  const use = (line: string): LineUse => uses.get(line) ?? NO_USE;
  /** Allocations over the recording, by line key: all lines, or those with the smallest keys. */
  const allocations = new Map(keys.map((key, i) => [key, program.allocations[i] ?? 0]));
  const isRegular = (key: string) =>
    (allocations.get(key) ?? 0) >= 0.8 * (steps?.count ?? 0) || use(key).bytes > 0.01 * peakBytes;
  /** Growth of medium severity or higher. */
  const growth = findings.filter(
    ({ detector, severity }) => detector === 'growth' && severity !== 'low',
  );
  return {
    ...{ summary, peakBytes, uses, use, allocations, growth },
    /**
     * Lines that belong to the rank's regular work: they allocate in nearly every step, or hold memory at the peak. This
     * leaves out chance events: a log line, a retry.
     */
    regular: new Set(keys.filter(isRegular)),
    /** Its program ran out of memory, so its file lacks what it would have done next. */
    isCutShort: ooms.some(({ wasRetried }) => !wasRetried),
    /** Bytes of a class at the peak. */
    classBytes: (id: string): number => classes.find((one) => one.class === id)?.peakBytes ?? 0,
    linesOfFinding({ sites }: SummaryFinding): string[] {
      const own = callSites.filter(({ key }) => sites.includes(key));
      return [...new Set(own.map(({ line }) => line))];
    },
    growsAt: ({ frame }: SummaryFinding): boolean =>
      growth.some((one) => isSameLine(one.frame, frame)),
    /** Whether the summary would list this line: only the smallest keys of a long program fit. */
    knows: (key: string): boolean => count <= keys.length || key <= (keys.at(-1) ?? ''),
  };
}

/** Compares the ends of the paths: each rank may have its own mount. */
function isSameLine(a: FrameReport | null, b: FrameReport | null): boolean {
  if (a === null || b === null) return a === b;
  return a.line === b.line && a.name === b.name && fileName(a.file) === fileName(b.file);
}

/** 'train.py:21 (step)' */
export const frameLabelOf = ({ file, line, name }: FrameReport): string =>
  frameLabel({ filename: file, line, name });

/** Where memory grows, in a sentence. */
export const growthPlace = (frame: FrameReport | null): string =>
  frame === null ? 'a place without a recorded stack' : frameLabelOf(frame);

/** 'activations'; undefined if the class is unknown. */
export const knownClass = (id: string | null): string | undefined =>
  id === null || id === 'unknown' ? undefined : classLabel(id);

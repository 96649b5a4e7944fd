/** What a report holds of the program's code: the user's lines that the verdict and the findings name, and a few around them. */
import type { Finding } from '../../analysis/findings/detectors.ts';
import type { Judgement } from '../../analysis/verdict/verdict.ts';
import { groupBy } from '../../base/collections.ts';
import { codeLines } from '../../device/model/source-code.ts';
import type { FrameView } from '../../device/model/types.ts';
import type { SourceText, SourceTexts } from '../../format/snapshot/tables.ts';

/** Lines before and after each. */
const AROUND = 3;

interface Found {
  readonly findings: readonly Pick<Finding, 'frame' | 'userLines'>[];
  readonly verdict?: Pick<Judgement['verdict'], 'lines'>;
  /** The line that allocated most, if nothing is wrong. */
  readonly most?: { readonly line: FrameView } | undefined;
}

/**
 * @param textOf a file's text by the name that its frames have
 * @returns undefined if no line's text is known
 */
export async function sourceExcerpts(
  { findings, verdict, most }: Found,
  textOf: (filename: string) => Promise<SourceText | undefined>,
): Promise<SourceTexts | undefined> {
  const named = [
    ...(verdict?.lines ?? []),
    ...(most === undefined ? [] : [most.line]),
    ...findings.flatMap(({ frame, userLines }) => [...(frame ? [frame] : []), ...userLines]),
  ];
  const users = named.filter(({ kind, line }) => kind === 'user' && line > 0);
  const files: SourceText[] = [];
  for (const [filename, frames] of groupBy(users, (frame) => frame.filename)) {
    const pieces = piecesAround(await textOf(filename), frames);
    if (pieces !== undefined) files.push(pieces);
  }
  return files.length === 0 ? undefined : { files, missing: {} };
}

function piecesAround(
  file: SourceText | undefined,
  frames: readonly FrameView[],
): SourceText | undefined {
  if (file === undefined) return undefined;
  const isNear = (at: number) => frames.some(({ line }) => Math.abs(line - at) <= AROUND);
  const pieces: { line: number; text: string }[] = [];
  let next = 0;
  for (const [line, code] of codeLines(file.pieces)) {
    if (!isNear(line)) continue;
    const last = pieces.at(-1);
    if (last !== undefined && line === next) last.text += `\n${code}`;
    else pieces.push({ line, text: code });
    next = line + 1;
  }
  return pieces.length === 0 ? undefined : { ...file, isWhole: false, pieces };
}

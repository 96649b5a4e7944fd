/** Lines of the program's code: from the recording, or from a folder. */
import type { SourceText } from '../../format/snapshot/tables.ts';

/** By line number, which counts from 1. */
export type CodeLines = ReadonlyMap<number, string>;

/** They could move or hide parts of a line. */
const DECEIVING = /[\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]|(?!\t)\p{Cc}/gu;

export function codeLines(pieces: SourceText['pieces']): CodeLines {
  return new Map(
    pieces.flatMap(({ line, text }) =>
      text
        .split(/\r\n?|\n/)
        .map((code, i) => [line + i, code.replace(DECEIVING, '\ufffd')] as const),
    ),
  );
}

export interface CodeLine {
  readonly line: number;
  readonly code: string;
}

/** A line and those around it, without the indentation that all have. Empty if its text is unknown. */
export function linesAround(lines: CodeLines, line: number, around: number): readonly CodeLine[] {
  if (lines.get(line) === undefined) return [];
  const found = Array.from({ length: 2 * around + 1 }, (_, i) => line - around + i).flatMap(
    (at) => {
      const code = lines.get(at);
      return code === undefined
        ? []
        : [{ line: at, code: code.replaceAll('\t', '    ').trimEnd() }];
    },
  );
  const indents = found.filter(({ code }) => code !== '').map(({ code }) => code.search(/\S/));
  const shared = Math.min(...indents, Infinity);
  return found.map(({ line, code }) => ({ line, code: code.slice(shared) }));
}

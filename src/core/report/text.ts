/** Plain text for terminals: wrapped, aligned, coloured only where asked. */

export interface TextOptions {
  readonly columns: number;
  readonly color: boolean;
}

/** ANSI's numbers for select graphic rendition. */
const STYLES = { bold: 1, dim: 2, red: 31, yellow: 33 } as const;

export function styled(text: string, style: keyof typeof STYLES, { color }: TextOptions): string {
  return color ? `\u001b[${STYLES[style]}m${text}\u001b[0m` : text;
}

/** Lines of at most `columns`, later ones indented. A longer word stands alone on its line. */
export function wrap(text: string, columns: number, indent = ''): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = `${indent}${word}`;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

/**
 * Names and settings come from the file, where anybody may have written anything: an escape
 * sequence in a terminal can retitle it or worse. Control characters become '?'.
 */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, '?');
}

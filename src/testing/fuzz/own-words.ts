/** Distinguishes our words from a file's, which are quoted: a name may be 'NaN', a figure may not. */

/**
 * Text in quotes. The apostrophe in "PyTorch's" opens no quote: it follows a letter. A quote never goes beyond its
 * paragraph, so one that is left open does not hide the rest of our text.
 */
const QUOTED = /(?<![\p{L}\p{N}])(['"])(?:(?!\n\n)[\s\S])*?\1(?![\p{L}\p{N}])/gu;
const NO_FIGURE = /\bNaN\b|Infinity|undefined/;

/** The place in our text that shows a figure that is not a number; undefined if there is none. */
export function noFigureIn(text: string): string | undefined {
  return around(NO_FIGURE, text.replace(QUOTED, '""'));
}

/** The first match and the text before it. */
export function around(pattern: RegExp, text: string): string | undefined {
  const found = pattern.exec(text);
  return found === null ? undefined : text.slice(Math.max(0, found.index - 60), found.index + 20);
}

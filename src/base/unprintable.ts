/**
 * Characters that must not reach a terminal or a model: control characters (an escape sequence can retitle a terminal
 * or worse), line separators, lone surrogates, and everything invisible: direction marks, tags, joiners, variation
 * selectors.
 */
export const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** JSON for a terminal, a pipe or a file: {@link UNPRINTABLE} characters are escaped, so nothing is lost. */
export function jsonText(value: unknown, indent = 2): string {
  return JSON.stringify(value, undefined, indent).replace(UNPRINTABLE, (letter) =>
    letter === '\n' ? letter : letter.split('').map(escaped).join(''),
  );
}

/** Takes one UTF-16 unit: JSON needs two escapes for characters beyond 16 bits. */
const escaped = (half: string): string => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`;

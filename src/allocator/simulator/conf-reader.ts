/** A word or one of the four punctuation marks of PYTORCH_ALLOC_CONF, with its position in the text. */
export interface ConfToken {
  readonly text: string;
  /** Characters [position, end). */
  readonly position: number;
  readonly end: number;
}

/** 'a:[1:2]' → 'a', ':', '[', '1', ':', '2', ']'. Skips spaces between tokens. */
export function tokenize(text: string): ConfToken[] {
  return Array.from(text.matchAll(/[,:[\]]|[^,:[\]\s]+/g), (match) => ({
    text: match[0],
    position: match.index,
    end: match.index + match[0].length,
  }));
}

/** What is wrong with a setting, and where. The parser catches it and shows it to the user. */
export class ConfError extends Error {
  override readonly name = 'ConfError';
  readonly position: number;
  readonly end: number;

  constructor(message: string, { position, end }: Pick<ConfToken, 'position' | 'end'>) {
    super(message);
    this.position = position;
    this.end = end;
  }
}

/** Reads token by token. An unexpected token throws a {@link ConfError} at its position. */
export class ConfReader {
  readonly #tokens: readonly ConfToken[];
  readonly #length: number;
  #at = 0;

  /** @param length of the text, for the position of errors at its end */
  constructor(tokens: readonly ConfToken[], length: number) {
    this.#tokens = tokens;
    this.#length = length;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#tokens.length;
  }

  /** The next word. @throws ConfError at the end of the text and at a punctuation mark */
  next(what: string): ConfToken {
    if (this.isAtEnd) throw this.#atEnd(what);
    const token = this.#tokens[this.#at++];
    if (/^[,:[\]]$/.test(token.text)) {
      throw new ConfError(`Expected ${what}, not '${token.text}'`, token);
    }
    return token;
  }

  expect(mark: string): void {
    if (this.skip(mark)) return;
    if (this.isAtEnd) throw this.#atEnd(`'${mark}'`);
    const token = this.#tokens[this.#at];
    throw new ConfError(`Expected '${mark}', not '${token.text}'`, token);
  }

  skip(mark: string): boolean {
    if (this.isAtEnd || this.#tokens[this.#at].text !== mark) return false;
    this.#at++;
    return true;
  }

  boolean(option: string): boolean {
    const token = this.next('True or False');
    if (token.text === 'True') return true;
    if (token.text === 'False') return false;
    const meant = closestName(token.text, ['True', 'False']);
    const hint = meant === undefined ? '' : `. Did you mean ${meant}?`;
    throw new ConfError(`${option} must be True or False, not '${token.text}'${hint}`, token);
  }

  integer(what: string): { readonly value: number; readonly token: ConfToken } {
    const token = this.next('a whole number');
    const value = /^\d+$/.test(token.text) ? Number(token.text) : Number.NaN;
    if (Number.isSafeInteger(value)) return { value, token };
    const hint = /^\d+ *[kmg]i?b?$/i.test(token.text) ? ', without a unit' : '';
    throw new ConfError(`${what} must be a whole number${hint}, not '${token.text}'`, token);
  }

  #atEnd(what: string): ConfError {
    const at = { position: this.#length, end: this.#length };
    return new ConfError(`Expected ${what}, but the text ends here`, at);
  }
}

/** Most edits, as a share of the longer name's length, for a name to count as misspelled. */
const MOST_CHANGED = 0.34;

/** The name that takes the fewest edits. The only one that starts or ends with the text wins. */
export function closestName(text: string, names: readonly string[]): string | undefined {
  const typed = text.toLowerCase();
  const parts = names.filter((name) => typed.length > 3 && isPart(typed, name));
  if (parts.length === 1) return parts[0];
  const most = (name: string) => MOST_CHANGED * Math.max(typed.length, name.length);
  const near = names
    // Each letter more is an edit, and a file may hold a word of 100 kB.
    .filter((name) => Math.abs(typed.length - name.length) <= most(name))
    .map((name) => ({ name, changes: editDistance(typed, name.toLowerCase()) }))
    .filter(({ name, changes }) => changes <= most(name));
  return near.sort((a, b) => a.changes - b.changes)[0]?.name;
}

const isPart = (typed: string, name: string): boolean =>
  name.toLowerCase().startsWith(typed) || name.toLowerCase().endsWith(typed);

/** Letters to add, drop, change or swap with the next: 'ture' → 'true' is 1. */
function editDistance(a: string, b: string): number {
  let earlier: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      let least = Math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (isSame ? 0 : 1));
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwapped) least = Math.min(least, earlier[j - 2] + 1);
      row.push(least);
    }
    earlier = above;
    above = row;
  }
  return above[b.length];
}

/** Values of a view ↔ parameters of a URL, by a table that says how each is written. */

export interface Param<T> {
  readonly key: string;
  /** Undefined for unreadable text. */
  readonly read: (text: string) => T | undefined;
  readonly write?: (value: T) => string;
}
export type Params<S> = { readonly [K in keyof S]: Param<S[K]> };

/** Writes only values that differ from the defaults. */
export function writeParams<S>(
  url: URLSearchParams,
  params: Params<S>,
  values: S,
  defaults: S,
): void {
  for (const name in params) {
    const { key, write = String } = params[name];
    const [value, usual] = [values[name], defaults[name]];
    if (value === undefined) continue;
    if (usual === undefined || write(value) !== write(usual)) url.set(key, write(value));
  }
}

/** @param problems gets a sentence for each value that is there but unreadable */
export function readParam<T>(
  url: URLSearchParams,
  { key, read }: Param<T>,
  problems: string[] = [],
): T | undefined {
  const text = url.get(key);
  const value = text === null ? undefined : read(text);
  if (text !== null && value === undefined)
    problems.push(`The link's ${key} "${text.slice(0, 40)}" is not valid and was ignored.`);
  return value;
}

/** What is missing or unreadable gets its default. */
export function readParams<S>(
  url: URLSearchParams,
  params: Params<S>,
  defaults: S,
  problems?: string[],
): S {
  const values = { ...defaults };
  for (const name in params)
    values[name] = readParam(url, params[name], problems) ?? defaults[name];
  return values;
}

export const oneOf =
  <T extends string>(...values: readonly T[]) =>
  (text: string): T | undefined =>
    values.find((value) => value === text);

export const anyText = (text: string): string => text;

/** Writes true as one word and false as nothing. */
export const flag = (key: string, word: string): Param<boolean> => ({
  key,
  read: (text) => text === word || undefined,
  write: (isOn) => (isOn ? word : ''),
});

/** For events and devices. */
export function parseIndex(text: string): number | undefined {
  return /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}

/** A range on one axis, with from < to. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** "1.5..2e9" is from 1.5 to 2e9. */
export function parseRange(text: string): Range | undefined {
  const parts = text.split('..');
  if (parts.length !== 2 || parts.some((part) => part.trim() === '')) return undefined;
  const [from, to] = parts.map(Number);
  if (from === undefined || to === undefined) return undefined;
  return Number.isFinite(from) && Number.isFinite(to) && from < to ? { from, to } : undefined;
}

export function rangeText(range: Range | string): string {
  return typeof range === 'string' ? range : `${range.from}..${range.to}`;
}

/** Order of a table; `key` is a column. */
export interface Sort<Key extends string = string> {
  readonly key: Key;
  readonly descending: boolean;
}

/** "-size" sorts by size, largest first. */
export function parseSort(text: string): Sort | undefined {
  const match = /^(-?)([a-zA-Z]{1,40})$/.exec(text);
  return match?.[2] === undefined ? undefined : { key: match[2], descending: match[1] === '-' };
}

export function sortText(sort: Sort | undefined): string {
  return sort === undefined ? '' : `${sort.descending ? '-' : ''}${sort.key}`;
}

/** Enough to notice that a link was made for another file. */
export interface FileId {
  readonly name: string;
  readonly bytes: number;
}

/** "1041075:my oom.pickle" */
export const fileIdParam = (key: string): Param<FileId | undefined> => ({
  key,
  read: (text) => {
    const match = /^(\d{1,15}):(.*)$/s.exec(text);
    return match === null ? undefined : { bytes: Number(match[1]), name: match[2] ?? '' };
  },
  write: (file) => (file === undefined ? '' : `${file.bytes}:${file.name}`),
});

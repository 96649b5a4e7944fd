/**
 * View state ↔ URL. The view is in the hash, which a server never sees; `?snapshot=` stays where it is. Only values
 * that differ from the file's opening view are written:
 *
 *   https://host/?snapshot=samples/oom.pickle#v=1&axis=time&x=1200..98000&select=b7f064c000000_0
 *
 * Numbers are written as JavaScript prints them, so they read back as the same double.
 */

import { COUNTER_NAMES, type CounterName } from '../allocator/replay/types.ts';
import { findingIdOfLink } from '../analysis/findings/ranked-findings.ts';
import { COLORINGS, TIME_AXES } from '../draw/timeline/types.ts';
import {
  DEFAULT_FLAME,
  DEFAULT_VIEW,
  type FlameView,
  type Range,
  type Sort,
  VIEW_NAMES,
  type ViewName,
  type ViewState,
} from './view-store.ts';

/** Increase this when a parameter changes its meaning, not for a new one. */
export const URL_VERSION = 1;

/** Enough to notice that a link was made for another file. */
interface Fingerprint {
  readonly name: string;
  readonly bytes: number;
}

export interface ParsedUrl {
  /** Has the values of `opening` wherever the URL is silent or unreadable. */
  readonly view: ViewState;
  /** True if the URL says anything about the view. */
  readonly hasView: boolean;
  /** `?snapshot=`: the file to open. */
  readonly snapshotUrl: string | undefined;
  /** The file that the link was made for. */
  readonly madeFor: Fingerprint | undefined;
  /** One sentence for the user per unreadable item; empty if all is well. */
  readonly problems: readonly string[];
}

/** How a value of the view is written in the hash. */
interface Param<T> {
  readonly key: string;
  /** Undefined for unreadable text. */
  readonly read: (text: string) => T | undefined;
  readonly write?: (value: T) => string;
}
type Params<S> = { readonly [K in keyof S]: Param<S[K]> };

const oneOf =
  <T extends string>(...values: readonly T[]) =>
  (text: string): T | undefined =>
    values.find((value) => value === text);

const anyText = (text: string): string => text;

/** Writes true as one word and false as nothing. */
const flag = (key: string, word: string): Param<boolean> => ({
  key,
  read: (text) => text === word || undefined,
  write: (isOn) => (isOn ? word : ''),
});

/** Names of views in old links. */
const OLD_VIEWS: ReadonlyMap<string, ViewName> = new Map([
  ['addresses', 'address-map'],
  ['state', 'allocator-state'],
  ['flame', 'flame-graph'],
  ['summary', 'memory-summary'],
  ['whatif', 'what-if'],
]);

/** An allocation's label: b, the address in hex, _, the number of earlier uses. */
const LABEL = /^b[0-9a-f]{1,16}_\d{1,10}$/;

/** {@link encodeView} writes device and cursor itself; site colors follow from the rest. */
const VIEW_PARAMS: Params<Omit<ViewState, 'deviceIndex' | 'cursor' | 'siteColors' | 'flame'>> = {
  view: { key: 'view', read: (text) => oneOf(...VIEW_NAMES)(text) ?? OLD_VIEWS.get(text) },
  axis: { key: 'axis', read: oneOf(...TIME_AXES) },
  foldsGaps: flag('gaps', 'folded'),
  x: { key: 'x', read: parseRange, write: rangeText },
  y: { key: 'y', read: parseRange, write: rangeText },
  selection: { key: 'select', read: (text) => (LABEL.test(text) ? text : undefined) },
  colorBy: { key: 'color', read: oneOf(...COLORINGS) },
  stackOrder: { key: 'order', read: oneOf('time', 'class') },
  lines: { key: 'lines', read: parseLines, write: linesText },
  secondCursor: { key: 'mark', read: parseIndex },
  search: { key: 'search', read: anyText },
  onlyMatches: flag('only', 'matches'),
  finding: { key: 'finding', read: findingIdOfLink },
  addresses: { key: 'addresses', read: parseRange, write: rangeText },
  sort: { key: 'sort', read: parseSort, write: sortText },
  setting: { key: 'setting', read: anyText },
  limit: { key: 'limit', read: parseLimit },
  comparison: { key: 'compare', read: anyText },
};

const FLAME_PARAMS: Params<FlameView> = {
  dataset: { key: 'flame', read: oneOf('cursor', 'peak', 'end', 'window', 'difference') },
  weight: { key: 'weight', read: oneOf('bytes', 'allocated', 'count', 'lifetime') },
  groupBy: { key: 'by', read: oneOf('class', 'line', 'stack', 'function', 'file', 'module') },
  frames: { key: 'frames', read: oneOf('own', 'known', 'all') },
  inverted: flag('from', 'callees'),
  root: { key: 'root', read: anyText },
};

/** `at=` of a view without a cursor, which shows the end. */
const AT_END = 'end';

/**
 * The hash for a view, without '#'; '' for the file's opening view.
 * @param opening the view that the file opens with if a link says nothing
 */
export function encodeView(
  view: ViewState,
  madeFor?: Fingerprint,
  opening: ViewState = DEFAULT_VIEW,
): string {
  const { deviceIndex, cursor } = view;
  const params = new URLSearchParams();
  if (deviceIndex !== opening.deviceIndex) params.set('device', String(deviceIndex));
  if (cursor !== openingCursorOf(opening, deviceIndex)) params.set('at', String(cursor ?? AT_END));
  writeParams(params, VIEW_PARAMS, view, DEFAULT_VIEW);
  writeParams(params, FLAME_PARAMS, view.flame, DEFAULT_FLAME);
  if (params.size === 0) return '';
  if (madeFor !== undefined) params.set('of', `${madeFor.bytes}:${madeFor.name}`);
  const text = `v=${URL_VERSION}&${params}`;
  return text.replace(/%2C/g, ',').replace(/%3A/g, ':');
}

/** Writes only values that differ from the defaults. */
function writeParams<S>(url: URLSearchParams, params: Params<S>, values: S, defaults: S): void {
  for (const name in params) {
    const { key, write = String } = params[name];
    const [value, usual] = [values[name], defaults[name]];
    if (value === undefined) continue;
    if (usual === undefined || write(value) !== write(usual)) url.set(key, write(value));
  }
}

/** The cursor that a file opens at is on one device. On other devices, a link without a cursor has none. */
function openingCursorOf(opening: ViewState, deviceIndex: number): ViewState['cursor'] {
  return deviceIndex === opening.deviceIndex ? opening.cursor : undefined;
}

/**
 * Reads any URL's `search` and `hash`, with or without '?' and '#'. Never throws. `opening`: see {@link encodeView}.
 */
export function parseUrl(
  search: string,
  hash: string,
  opening: ViewState = DEFAULT_VIEW,
): ParsedUrl {
  const snapshotUrl = new URLSearchParams(search).get('snapshot') || undefined;
  const url = new URLSearchParams(hash.replace(/^#/, ''));
  const version = url.get('v');
  const refusal = version === null ? undefined : refuseVersion(version);
  if (version === null || refusal !== undefined) {
    const problems = refusal === undefined ? [] : [refusal];
    return { view: opening, hasView: false, snapshotUrl, madeFor: undefined, problems };
  }
  const problems: string[] = [];
  const view = readView(url, opening, problems);
  return { view, hasView: true, snapshotUrl, madeFor: readFingerprint(url.get('of')), problems };
}

/** A notice if the link was made for another snapshot. */
export function linkMismatch(
  madeFor: Fingerprint | undefined,
  open: Fingerprint,
): string | undefined {
  // A renamed copy is the same snapshot, and different snapshots hardly ever have equal lengths.
  if (madeFor === undefined || madeFor.bytes === open.bytes) return undefined;
  return (
    `This link was made for ${madeFor.name} (${madeFor.bytes} bytes), ` +
    `but ${open.name} (${open.bytes} bytes) is open, so the view may not fit.`
  );
}

function refuseVersion(text: string): string | undefined {
  if (!/^\d{1,6}$/.test(text)) return 'The view in this link is not valid.';
  if (Number(text) <= URL_VERSION) return undefined;
  return 'A newer version of vramscope made this link; this version cannot read its view.';
}

function readView(url: URLSearchParams, opening: ViewState, problems: string[]): ViewState {
  function paramOf<T>({ key, read }: Param<T>): T | undefined {
    const text = url.get(key);
    const value = text === null ? undefined : read(text);
    if (text !== null && value === undefined)
      problems.push(`The link's ${key} "${text.slice(0, 40)}" is not valid and was ignored.`);
    return value;
  }
  function valuesOf<S>(params: Params<S>, defaults: S): S {
    const values = { ...defaults };
    for (const name in params) values[name] = paramOf(params[name]) ?? defaults[name];
    return values;
  }
  const deviceIndex = paramOf({ key: 'device', read: parseIndex }) ?? opening.deviceIndex;
  const at = paramOf({ key: 'at', read: (text) => (text === AT_END ? AT_END : parseIndex(text)) });
  return {
    ...valuesOf(VIEW_PARAMS, DEFAULT_VIEW),
    flame: valuesOf(FLAME_PARAMS, DEFAULT_FLAME),
    siteColors: opening.siteColors,
    deviceIndex,
    cursor: at === AT_END ? undefined : (at ?? openingCursorOf(opening, deviceIndex)),
  };
}

/** "-size" sorts by size, largest first. */
function parseSort(text: string): Sort | undefined {
  const match = /^(-?)([a-zA-Z]{1,40})$/.exec(text);
  return match?.[2] === undefined ? undefined : { key: match[2], descending: match[1] === '-' };
}

function sortText(sort: Sort | undefined): string {
  return sort === undefined ? '' : `${sort.descending ? '-' : ''}${sort.key}`;
}

/** For events and devices. */
function parseIndex(text: string): number | undefined {
  return /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}

/** Positive bytes, or 'none'. */
function parseLimit(text: string): number | 'none' | undefined {
  if (text === 'none') return text;
  return /^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined;
}

/** "1.5..2e9" is from 1.5 to 2e9. */
function parseRange(text: string): Range | undefined {
  const parts = text.split('..');
  if (parts.length !== 2 || parts.some((part) => part.trim() === '')) return undefined;
  const [from, to] = parts.map(Number);
  if (from === undefined || to === undefined) return undefined;
  return Number.isFinite(from) && Number.isFinite(to) && from < to ? { from, to } : undefined;
}

/** "" hides all lines. Order and repetitions in a handmade link do not matter. */
function parseLines(text: string): readonly CounterName[] | undefined {
  const names = text === '' ? [] : text.split(',');
  if (names.some((name) => oneOf(...COUNTER_NAMES)(name) === undefined)) return undefined;
  return COUNTER_NAMES.filter((line) => names.includes(line));
}

function linesText(lines: readonly CounterName[]): string {
  return COUNTER_NAMES.filter((line) => lines.includes(line)).join(',');
}

function readFingerprint(text: string | null): Fingerprint | undefined {
  const match = /^(\d{1,15}):(.*)$/s.exec(text ?? '');
  return match === null ? undefined : { bytes: Number(match[1]), name: match[2] ?? '' };
}

function rangeText(range: Range | string): string {
  return typeof range === 'string' ? range : `${range.from}..${range.to}`;
}

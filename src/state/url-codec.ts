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
import { isTarget, isTransformList } from '../device/flame-graph/transform-text.ts';
import { COLORINGS, TIME_AXES } from '../draw/timeline/types.ts';
import {
  anyText,
  type FileId,
  fileIdParam,
  flag,
  oneOf,
  type Params,
  parseIndex,
  parseRange,
  parseSort,
  rangeText,
  readParam,
  readParams,
  sortText,
  writeParams,
} from './url-params.ts';
import {
  DEFAULT_FLAME,
  DEFAULT_VIEW,
  type FlameView,
  VIEW_NAMES,
  type ViewName,
  type ViewState,
} from './view-store.ts';

/** Increase this when a parameter changes its meaning, not for a new one. */
export const URL_VERSION = 1;

export interface ParsedUrl {
  /** Has the values of `opening` wherever the URL is silent or unreadable. */
  readonly view: ViewState;
  /** The file that the link was made for. */
  readonly madeFor: FileId | undefined;
  /** One sentence for the user per unreadable item; empty if all is well. */
  readonly problems: readonly string[];
}

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
  // A blank at the end only runs the search again.
  search: { key: 'search', read: anyText, write: (text) => text.trimEnd() },
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
  groupBy: {
    key: 'by',
    read: oneOf('class', 'line', 'stack', 'function', 'file', 'module', 'holder'),
  },
  frames: { key: 'frames', read: oneOf('own', 'known', 'all') },
  inverted: flag('from', 'callees'),
  root: { key: 'root', read: anyText },
  transforms: { key: 'transforms', read: (text) => (isTransformList(text) ? text : undefined) },
  sandwich: { key: 'sandwich', read: (text) => (isTarget(text) ? text : undefined) },
};

const MADE_FOR = fileIdParam('of');

/** `at=` of a view without a cursor, which shows the end. */
const AT_END = 'end';

/**
 * The hash for a view, without '#'; '' for the file's opening view.
 * @param opening the view that the file opens with if a link says nothing
 */
export function encodeView(
  view: ViewState,
  madeFor?: FileId,
  opening: ViewState = DEFAULT_VIEW,
): string {
  const { deviceIndex, cursor } = view;
  const params = new URLSearchParams();
  if (deviceIndex !== opening.deviceIndex) params.set('device', String(deviceIndex));
  if (cursor !== openingCursorOf(opening, deviceIndex)) params.set('at', String(cursor ?? AT_END));
  writeParams(params, VIEW_PARAMS, view, DEFAULT_VIEW);
  writeParams(params, FLAME_PARAMS, view.flame, DEFAULT_FLAME);
  if (params.size === 0) return '';
  writeParams(params, { madeFor: MADE_FOR }, { madeFor }, { madeFor: undefined });
  const text = `v=${URL_VERSION}&${params}`;
  return text.replace(/%2C/g, ',').replace(/%3A/g, ':');
}

/** The cursor that a file opens at is on one device. On other devices, a link without a cursor has none. */
function openingCursorOf(opening: ViewState, deviceIndex: number): ViewState['cursor'] {
  return deviceIndex === opening.deviceIndex ? opening.cursor : undefined;
}

/** Reads any URL's hash, with or without '#'. Never throws. `opening`: see {@link encodeView}. */
export function parseUrl(hash: string, opening: ViewState = DEFAULT_VIEW): ParsedUrl {
  const url = new URLSearchParams(hash.replace(/^#/, ''));
  const problems: string[] = [];
  if (!isReadable(url.get('v'), problems)) return { view: opening, madeFor: undefined, problems };
  const deviceIndex =
    readParam(url, { key: 'device', read: parseIndex }, problems) ?? opening.deviceIndex;
  const readAt = (text: string) => (text === AT_END ? AT_END : parseIndex(text));
  const at = readParam(url, { key: 'at', read: readAt }, problems);
  const view: ViewState = {
    ...readParams(url, VIEW_PARAMS, DEFAULT_VIEW, problems),
    flame: readParams(url, FLAME_PARAMS, DEFAULT_FLAME, problems),
    siteColors: opening.siteColors,
    deviceIndex,
    cursor: at === AT_END ? undefined : (at ?? openingCursorOf(opening, deviceIndex)),
  };
  return { view, madeFor: readParam(url, MADE_FOR), problems };
}

function isReadable(version: string | null, problems: string[]): boolean {
  if (version === null) return false;
  const isValid = /^\d{1,6}$/.test(version);
  if (isValid && Number(version) <= URL_VERSION) return true;
  problems.push(
    isValid
      ? 'A newer version of vramscope made this link; this version cannot read its view.'
      : 'The view in this link is not valid.',
  );
  return false;
}

/** A notice if the link was made for another snapshot. */
export function linkMismatch(madeFor: FileId | undefined, open: FileId): string | undefined {
  // A renamed copy is the same snapshot, and different snapshots hardly ever have equal lengths.
  if (madeFor === undefined || madeFor.bytes === open.bytes) return undefined;
  return (
    `This link was made for ${madeFor.name} (${madeFor.bytes} bytes), ` +
    `but ${open.name} (${open.bytes} bytes) is open, so the view may not fit.`
  );
}

/** Positive bytes, or 'none'. */
function parseLimit(text: string): number | 'none' | undefined {
  if (text === 'none') return text;
  return /^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined;
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

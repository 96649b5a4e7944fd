/**
 * View state ↔ URL. The view is in the hash, so that a server never sees it; `?snapshot=` stays
 * where it is. Only what differs from the view that a file opens with is written:
 *
 *   https://host/?snapshot=samples/oom.pickle#v=1&axis=time&x=1200..98000&select=b7f064c000000_0
 *
 * Numbers are written as JavaScript prints them, which reads back to the very same double.
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
  type ViewState,
} from './view-store.ts';

/** Raised when the meaning of a parameter changes; not for a new one. */
export const URL_VERSION = 1;

/** Enough of a file to notice a link that was made for another one. */
interface Fingerprint {
  readonly name: string;
  readonly bytes: number;
}

export interface ParsedUrl {
  /** `opening` for all that the URL does not say, or says in a way that cannot be read. */
  readonly view: ViewState;
  /** True when the URL says anything about the view. */
  readonly hasView: boolean;
  /** `?snapshot=`: the file to open. */
  readonly snapshotUrl: string | undefined;
  /** The file that the link was made for. */
  readonly madeFor: Fingerprint | undefined;
  /** One sentence for the user for each thing that could not be read; empty when all is well. */
  readonly problems: readonly string[];
}

const FLAME_DATASETS: readonly FlameView['dataset'][] = [
  'cursor',
  'peak',
  'end',
  'window',
  'difference',
];
const FLAME_WEIGHT: readonly FlameView['weight'][] = ['bytes', 'allocated', 'count', 'lifetime'];
const FLAME_GROUPINGS: readonly FlameView['groupBy'][] = [
  'class',
  'line',
  'stack',
  'function',
  'file',
  'module',
];
const FLAME_FRAMES: readonly FlameView['frames'][] = ['own', 'known', 'all'];
/** `at=` of a view without a cursor: it shows the end. */
const AT_END = 'end';
/** b, the address in hex, _, the count of earlier uses. */
const LABEL = /^b[0-9a-f]{1,16}_\d{1,10}$/;

/**
 * The hash for a view, without '#'; '' for the one that the file opens with.
 * @param opening what the file opens with where its link says nothing
 */
export function encodeView(
  view: ViewState,
  madeFor?: Fingerprint,
  opening: ViewState = DEFAULT_VIEW,
): string {
  const params = new URLSearchParams();
  if (view.view !== DEFAULT_VIEW.view) params.set('view', view.view);
  if (view.deviceIndex !== opening.deviceIndex) params.set('device', String(view.deviceIndex));
  if (view.axis !== DEFAULT_VIEW.axis) params.set('axis', view.axis);
  if (view.foldsGaps) params.set('gaps', 'folded');
  if (view.x !== 'all') params.set('x', rangeText(view.x));
  if (view.y !== 'fit') params.set('y', rangeText(view.y));
  if (view.selection !== undefined) params.set('select', view.selection);
  if (view.colorBy !== DEFAULT_VIEW.colorBy) params.set('color', view.colorBy);
  if (view.inBands) params.set('order', 'class');
  if (!sameLines(view.lines, DEFAULT_VIEW.lines)) params.set('lines', view.lines.join(','));
  if (view.cursor !== openingCursorOf(opening, view.deviceIndex)) {
    params.set('at', view.cursor === undefined ? AT_END : String(view.cursor));
  }
  if (view.secondCursor !== undefined) params.set('mark', String(view.secondCursor));
  if (view.search !== '') params.set('search', view.search);
  if (view.onlyMatches) params.set('only', 'matches');
  if (view.finding !== undefined) params.set('finding', view.finding);
  if (view.addresses !== 'fit') params.set('addresses', rangeText(view.addresses));
  writeFlame(params, view.flame);
  if (view.sort !== undefined) params.set('sort', sortText(view.sort));
  if (view.setting !== undefined) params.set('setting', view.setting);
  if (view.limit !== undefined) params.set('limit', String(view.limit));
  if (view.comparison !== undefined) params.set('compare', view.comparison);
  if (params.size === 0) return '';
  if (madeFor !== undefined) params.set('of', `${madeFor.bytes}:${madeFor.name}`);
  const text = `v=${URL_VERSION}&${params}`;
  return text.replace(/%2C/g, ',').replace(/%3A/g, ':');
}

/** Where a file opens is of one device: on any other, nothing said means no cursor. */
function openingCursorOf(opening: ViewState, deviceIndex: number): ViewState['cursor'] {
  return deviceIndex === opening.deviceIndex ? opening.cursor : undefined;
}

function writeFlame(params: URLSearchParams, flame: FlameView): void {
  if (flame.dataset !== DEFAULT_FLAME.dataset) params.set('flame', flame.dataset);
  if (flame.weight !== DEFAULT_FLAME.weight) params.set('weight', flame.weight);
  if (flame.groupBy !== DEFAULT_FLAME.groupBy) params.set('by', flame.groupBy);
  if (flame.frames !== DEFAULT_FLAME.frames) params.set('frames', flame.frames);
  if (flame.inverted) params.set('from', 'callees');
  if (flame.root !== undefined) params.set('root', flame.root);
}

/** Reads any URL's `search` and `hash`, with or without '?' and '#'. Never throws. `opening`: see {@link encodeView}. */
export function parseUrl(
  search: string,
  hash: string,
  opening: ViewState = DEFAULT_VIEW,
): ParsedUrl {
  const snapshotUrl = new URLSearchParams(search).get('snapshot') || undefined;
  const params = new URLSearchParams(hash.replace(/^#/, ''));
  if (!params.has('v')) {
    return { view: opening, hasView: false, snapshotUrl, madeFor: undefined, problems: [] };
  }
  const refusal = refuseVersion(params.get('v') ?? '');
  if (refusal !== undefined) {
    const problems = [refusal];
    return { view: opening, hasView: false, snapshotUrl, madeFor: undefined, problems };
  }
  const problems: string[] = [];
  const view = readView(new Reader(params, problems), opening);
  return { view, hasView: true, snapshotUrl, madeFor: readFingerprint(params.get('of')), problems };
}

/** What to tell the user when a link was made for another snapshot; undefined when it fits. */
export function linkMismatch(
  madeFor: Fingerprint | undefined,
  open: Fingerprint,
): string | undefined {
  // A renamed copy is the same snapshot; two snapshots of the very same length hardly ever are.
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

function readView(read: Reader, opening: ViewState): ViewState {
  const deviceIndex = read.value('device', parseIndex) ?? opening.deviceIndex;
  const at = read.value('at', (text) => (text === AT_END ? AT_END : parseIndex(text)));
  return {
    view: read.value('view', oneOf(VIEW_NAMES)) ?? DEFAULT_VIEW.view,
    deviceIndex,
    axis: read.value('axis', oneOf(TIME_AXES)) ?? DEFAULT_VIEW.axis,
    x: read.value('x', parseRange) ?? 'all',
    y: read.value('y', parseRange) ?? 'fit',
    selection: read.value('select', (text) => (LABEL.test(text) ? text : undefined)),
    foldsGaps: read.value('gaps', oneOf(['folded'])) !== undefined,
    siteColors: opening.siteColors,
    colorBy: read.value('color', oneOf(COLORINGS)) ?? DEFAULT_VIEW.colorBy,
    inBands: read.value('order', oneOf(['class'])) !== undefined,
    lines: read.value('lines', parseLines) ?? DEFAULT_VIEW.lines,
    cursor: at === AT_END ? undefined : (at ?? openingCursorOf(opening, deviceIndex)),
    secondCursor: read.value('mark', parseIndex),
    search: read.value('search', anyText) ?? '',
    onlyMatches: read.value('only', oneOf(['matches'])) !== undefined,
    finding: read.value('finding', findingIdOfLink),
    addresses: read.value('addresses', parseRange) ?? 'fit',
    flame: readFlame(read),
    sort: read.value('sort', parseSort),
    setting: read.value('setting', anyText),
    limit: read.value('limit', parseLimit),
    comparison: read.value('compare', anyText),
  };
}

function readFlame(read: Reader): FlameView {
  return {
    dataset: read.value('flame', oneOf(FLAME_DATASETS)) ?? DEFAULT_FLAME.dataset,
    weight: read.value('weight', oneOf(FLAME_WEIGHT)) ?? DEFAULT_FLAME.weight,
    groupBy: read.value('by', oneOf(FLAME_GROUPINGS)) ?? DEFAULT_FLAME.groupBy,
    frames: read.value('frames', oneOf(FLAME_FRAMES)) ?? DEFAULT_FLAME.frames,
    inverted: read.value('from', oneOf(['callees'])) !== undefined,
    root: read.value('root', anyText),
  };
}

/** Reads parameters one by one; those that cannot be read go on the list of problems. */
class Reader {
  readonly #params: URLSearchParams;
  readonly #problems: string[];

  constructor(params: URLSearchParams, problems: string[]) {
    this.#params = params;
    this.#problems = problems;
  }

  value<T>(key: string, parse: (text: string) => T | undefined): T | undefined {
    const text = this.#params.get(key);
    if (text === null) return undefined;
    const value = parse(text);
    if (value === undefined) {
      this.#problems.push(`The link's ${key} "${text.slice(0, 40)}" is not valid and was ignored.`);
    }
    return value;
  }
}

const oneOf =
  <T extends string>(values: readonly T[]) =>
  (text: string): T | undefined =>
    values.find((value) => value === text);

const anyText = (text: string): string => text;

/** "-size" is by size, the largest first. */
function parseSort(text: string): Sort | undefined {
  const match = /^(-?)([a-zA-Z]{1,40})$/.exec(text);
  return match?.[2] === undefined ? undefined : { key: match[2], descending: match[1] === '-' };
}

const sortText = ({ key, descending }: Sort): string => `${descending ? '-' : ''}${key}`;

/** Events and devices: whole, not negative, exact. */
function parseIndex(text: string): number | undefined {
  return /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}

/** Bytes over 0, or 'none'. */
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

/** "" hides all lines. Order and repetitions of a hand-made link do not matter. */
function parseLines(text: string): readonly CounterName[] | undefined {
  const names = text === '' ? [] : text.split(',');
  if (names.some((name) => oneOf(COUNTER_NAMES)(name) === undefined)) return undefined;
  return COUNTER_NAMES.filter((line) => names.includes(line));
}

function sameLines(a: readonly CounterName[], b: readonly CounterName[]): boolean {
  return COUNTER_NAMES.every((line) => a.includes(line) === b.includes(line));
}

function readFingerprint(text: string | null): Fingerprint | undefined {
  const match = /^(\d{1,15}):(.*)$/s.exec(text ?? '');
  return match === null ? undefined : { bytes: Number(match[1]), name: match[2] ?? '' };
}

function rangeText({ from, to }: Range): string {
  return `${from}..${to}`;
}

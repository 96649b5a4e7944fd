/** What may stand behind a key: `size>64MiB`, `stream:3`. */
import { assertUnreachable } from '../base/assert.ts';
import { parseBytes } from '../base/format.ts';
import type { Comparison, Condition, PoolWord, StateWord } from './types.ts';

/** Every key of the language, with what its value may be: shown when one cannot be read, and as help. */
export const KEY_HELP = {
  size: 'bytes of the block, such as size>64MiB or size=512',
  age: 'events or a time, such as age>1000 or age>2s',
  stream: 'a handle or a position in the list, such as stream:0',
  pool: 'small, large, default, private or an id such as pool:"(1, 0)"',
  state: 'live, pending or freed, such as state:live',
  frame: 'a function, a file and a line, such as frame:"forward@model.py:12"',
  site: 'the name of an allocation, such as site:b7f064c000000_0',
  phase: 'the name of an annotation, such as phase:"forward"',
  category: 'a category, such as category:activation',
  compile: 'a compile context, such as compile:"Torch-Compiled Region: 0/0"',
} as const;

export type Key = keyof typeof KEY_HELP;

export const KEYS = Object.keys(KEY_HELP).filter(isKey);

function isKey(word: string): word is Key {
  return Object.hasOwn(KEY_HELP, word);
}

const POOLS: readonly PoolWord[] = ['small', 'large', 'default', 'private'];
const STATES: readonly StateWord[] = ['live', 'pending', 'freed'];
const POOL_ID = /^\(\s*(\d{1,15})\s*,\s*(\d{1,15})\s*\)$/;
const STREAM = /^(0x[0-9a-f]{1,16}|\d{1,20})$/i;
const ALLOCATION_LABEL = /^b[0-9a-f]{1,16}_\d{1,9}$/i;
const DURATION = /^(\d{1,15}(?:\.\d{1,15})?)(us|µs|μs|ms|s|min|h)?$/i;
const UNIT_US: Readonly<Record<string, number>> = {
  us: 1,
  µs: 1,
  μs: 1,
  ms: 1e3,
  s: 1e6,
  min: 60e6,
  h: 3600e6,
};

/** The condition that a key, a sign (':' but for comparisons) and a value make; undefined when they make none. */
export function parseValue(
  key: Key,
  comparison: Comparison | ':',
  value: string,
): Condition | undefined {
  switch (key) {
    case 'size':
      return sizeCondition(comparison, value);
    case 'age':
      return ageCondition(comparison, value);
    case 'stream':
      return STREAM.test(value) ? { kind: 'stream', stream: BigInt(value) } : undefined;
    case 'pool':
      return poolCondition(value);
    case 'state': {
      const state = STATES.find((word) => word === value.toLowerCase());
      return state && { kind: 'state', state };
    }
    case 'frame':
      return value === '' ? undefined : { kind: 'frame', frame: value };
    case 'site':
      return ALLOCATION_LABEL.test(value)
        ? { kind: 'site', label: value.toLowerCase() }
        : undefined;
    case 'phase':
      return { kind: 'phase', name: value };
    case 'category':
      return { kind: 'category', name: value };
    case 'compile':
      return { kind: 'compile', context: value };
    default:
      return assertUnreachable(key);
  }
}

function sizeCondition(comparison: Comparison | ':', value: string): Condition | undefined {
  const bytes = parseBytes(value);
  if (bytes === undefined) return undefined;
  return { kind: 'size', comparison: comparison === ':' ? '=' : comparison, bytes };
}

function ageCondition(comparison: Comparison | ':', text: string): Condition | undefined {
  const match = DURATION.exec(text);
  if (match === null) return undefined;
  const factor = match[2] === undefined ? undefined : UNIT_US[match[2].toLowerCase()];
  return {
    kind: 'age',
    comparison: comparison === ':' ? '=' : comparison,
    unit: factor === undefined ? 'events' : 'us',
    value: Number(match[1]) * (factor ?? 1),
  };
}

function poolCondition(value: string): Condition | undefined {
  const pool = POOLS.find((word) => word === value.toLowerCase());
  if (pool !== undefined) return { kind: 'pool', pool };
  const id = POOL_ID.exec(value);
  return id === null ? undefined : { kind: 'pool', pool: [Number(id[1]), Number(id[2])] };
}

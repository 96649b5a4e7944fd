/** What may be typed next: the terms of the search language, and what this snapshot has for them. */
import { assertUnreachable } from '../../core/base/assert.ts';
import type { KnownValues } from '../../core/search/known-values.ts';
import { KEY_HELP, KEYS, type Key } from '../../core/search/parse-values.ts';
import type { PoolWord, StateWord } from '../../core/search/types.ts';
import {
  categoryTerm,
  compileTerm,
  phaseTerm,
  poolTerm,
  privatePoolTerm,
  stateTerm,
  streamTerm,
} from '../../core/search/write-terms.ts';

export interface Suggestion {
  /** The term as far as it goes: 'size>', 'state:live'. */
  readonly text: string;
  readonly hint: string;
  /** False for a key: its value comes next. */
  readonly isWhole: boolean;
}

export interface Suggested {
  readonly options: readonly Suggestion[];
  /** How many more there are than are listed. */
  readonly more: number;
  /** Where the word begins that an option replaces. */
  readonly from: number;
}

const MOST = 10;

/** The sign and the word before the caret, which may have an open quote. */
const LAST_WORD = /(?:^|\s)-?((?:\w+[:=<>]*)?"[^"]*|[^\s"]*)$/;

/** For the word that ends at the caret: keys that begin so, or values of its key that have that in them. */
export function suggest(text: string, caret: number, known: KnownValues | undefined): Suggested {
  const word = LAST_WORD.exec(text.slice(0, caret))?.[1] ?? '';
  const key = KEYS.find((each) => word.toLowerCase().startsWith(`${each}:`));
  const part = plain(key === undefined ? word : word.slice(key.length + 1));
  const options =
    key === undefined
      ? keysFor().filter((option) => option.text.startsWith(part))
      : valuesFor(key, known).filter((option) => {
          return option.text !== word && plain(option.text.slice(key.length + 1)).includes(part);
        });
  return {
    options: options.slice(0, MOST),
    more: Math.max(0, options.length - MOST),
    from: caret - word.length,
  };
}

const plain = (text: string): string => text.toLowerCase().replaceAll('"', '');

/** The text with an option in place of the word, and where the caret goes. */
export function complete(
  text: string,
  caret: number,
  { from }: Suggested,
  { text: term, isWhole }: Suggestion,
): { readonly text: string; readonly caret: number } {
  const rest = text.slice(caret);
  const written = isWhole && !/^\s/.test(rest) ? `${term} ` : term;
  return { text: text.slice(0, from) + written + rest, caret: from + written.length };
}

const SIGNS: Partial<Record<Key, string>> = { size: '>', age: '>' };

function keysFor(): readonly Suggestion[] {
  return KEYS.map((key) => ({
    text: `${key}${SIGNS[key] ?? ':'}`,
    hint: KEY_HELP[key],
    isWhole: false,
  }));
}

const STATES: readonly (readonly [StateWord, string])[] = [
  ['live', 'allocated at the cursor, else at the end'],
  ['pending', 'freed, but a stream still uses it'],
  ['freed', 'freed by then'],
];

const POOLS: readonly (readonly [PoolWord, string])[] = [
  ['small', 'blocks up to 1 MiB, in segments of 2 MiB'],
  ['large', 'blocks above 1 MiB'],
  ['default', 'in no private pool'],
  ['private', 'in some private pool: of a CUDA graph or a MemPool'],
];

function valuesFor(key: Key, known: KnownValues | undefined): readonly Suggestion[] {
  switch (key) {
    case 'state':
      return STATES.map(([word, hint]) => whole(stateTerm(word), hint));
    case 'pool': {
      const ids = known?.privatePools.map((pool) => whole(privatePoolTerm(pool), 'private pool'));
      return [...POOLS.map(([word, hint]) => whole(poolTerm(word), hint)), ...(ids ?? [])];
    }
    case 'stream':
      return (known?.streams ?? []).map((stream) =>
        whole(streamTerm(stream), stream === '0' ? 'the default stream' : ''),
      );
    case 'phase':
      return (known?.phases ?? []).map((name) => whole(phaseTerm(name), ''));
    case 'category':
      return (known?.categories ?? []).map((name) => whole(categoryTerm(name), ''));
    case 'compile':
      return (known?.compileContexts ?? []).map((context) => whole(compileTerm(context), ''));
    case 'size':
    case 'age':
    case 'frame':
    case 'site':
      return [];
    default:
      return assertUnreachable(key);
  }
}

const whole = (text: string, hint: string): Suggestion => ({ text, hint, isWhole: true });

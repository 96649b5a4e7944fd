import { describe, expect, test } from 'vitest';
import { parseSearch } from '../../../device/search/parse-search.ts';
import { type KnownValues, QUALIFIER_NAMES } from '../../../device/search/qualifiers.ts';
import { complete, onSearchKey, suggest } from './completion.ts';

const KNOWN: KnownValues = {
  phase: [
    'forward',
    'forward pass "2"',
    'backward',
    ...Array.from({ length: 30 }, (_, i) => `step ${i}`),
  ],
  category: ['activation'],
  compile: ['Region: 0/0'],
  stream: ['0', '0x55d0c0de'],
  pool: ['(1, 0)'],
};

const textsAt = (text: string, known: KnownValues | undefined = KNOWN) =>
  suggest(text, text.length, known).options.map((option) => option.text);

describe('what is suggested', () => {
  test('all keys for an empty word, at the start or after a space', () => {
    expect(textsAt('')).toHaveLength(QUALIFIER_NAMES.length);
    expect(textsAt('forward ')).toHaveLength(QUALIFIER_NAMES.length);
    expect(textsAt('-')).toHaveLength(QUALIFIER_NAMES.length);
  });

  test('keys with that prefix, and nothing for other words', () => {
    expect(textsAt('s')).toEqual(['size>', 'state:', 'stream:', 'site:']);
    expect(textsAt('x size')).toEqual(['size>']);
    expect(textsAt('-st')).toEqual(['state:', 'stream:']);
    expect(textsAt('attention')).toEqual([]);
    expect(textsAt('"quoted words')).toEqual([]);
  });

  test('values of this snapshot, and none before they are known', () => {
    expect(textsAt('phase:for')).toEqual(['phase:"forward"', 'phase:"forward pass \\"2\\""']);
    expect(textsAt('phase:"forward p')).toEqual(['phase:"forward pass \\"2\\""']);
    expect(textsAt('state:')).toEqual(['state:live', 'state:pending', 'state:freed']);
    expect(textsAt('state:live')).toEqual([]);
    expect(textsAt('pool:riv')).toEqual(['pool:private']);
    expect(textsAt('PHASE:ACK')).toEqual(['phase:"backward"']);
    expect(textsAt('pool:')).toContain('pool:"(1, 0)"');
    expect(textsAt('stream:0x')).toEqual(['stream:0x55d0c0de']);
    expect(suggest('category:', 9, undefined).options).toEqual([]);
    const phases = suggest('phase:', 6, KNOWN);
    expect(phases.options.length + phases.more).toBe(KNOWN.phase?.length);
  });

  test('each complete one is a valid term', () => {
    for (const name of QUALIFIER_NAMES) {
      for (const { text, isWhole } of suggest(`${name}:`, name.length + 1, KNOWN).options) {
        expect(isWhole).toBe(true);
        expect(parseSearch(text).problem).toBeUndefined();
      }
    }
  });
});

describe('a completion', () => {
  const completed = (text: string, caret: number, nth = 0) => {
    const suggested = suggest(text, caret, KNOWN);
    return complete(text, caret, suggested, suggested.options[nth]);
  };

  test('replaces the word before the caret', () => {
    expect(completed('a siz', 5)).toEqual({ text: 'a size>', caret: 7 });
    expect(completed('-state:p b', 8)).toEqual({ text: '-state:pending b', caret: 14 });
    expect(completed('a phase:"ba', 11)).toEqual({ text: 'a phase:"backward" ', caret: 19 });
  });
});

/** What the keys made the box do, in words. */
function pressed(draft: string, option: string | undefined, key: string, shiftKey = false) {
  const done: string[] = [];
  const isTaken = onSearchKey(
    { key, shiftKey },
    {
      text: {
        draft,
        type: (text) => done.push(`type ${text}`),
        apply: (text) => done.push(`apply ${text}`),
        begin: () => done.push('begin'),
      },
      completion: {
        suggested: undefined,
        active: -1,
        option: option === undefined ? undefined : { text: option, hint: '', isWhole: true },
        setCaret: (caret) => done.push(`caret ${caret}`),
        setOpen: (isOpen) => done.push(isOpen ? 'open' : 'close'),
        step: (direction) => done.push(`option ${direction}`),
        choose: ({ text }) => done.push(`choose ${text}`),
      },
      onStep: (isBackwards) => done.push(isBackwards ? 'previous' : 'next'),
      leave: () => done.push('leave'),
    },
  );
  return isTaken ? done : 'not taken';
}

test('Enter searches at once and goes to the next match, with Shift to the one before', () => {
  expect(pressed('a', undefined, 'Enter')).toEqual(['close', 'apply a', 'next']);
  expect(pressed('a', undefined, 'Enter', true)).toEqual(['close', 'apply a', 'previous']);
  expect(pressed(' ', undefined, 'Enter')).toEqual(['close', 'apply  ']);
});

test('an option that the arrows have reached is taken by Enter and Tab', () => {
  expect(pressed('si', 'size>', 'Enter')).toEqual(['choose size>']);
  expect(pressed('si', 'size>', 'Tab')).toEqual(['choose size>']);
  expect(pressed('si', undefined, 'Tab')).toBe('not taken');
  expect(pressed('si', undefined, 'ArrowUp')).toEqual(['option -1']);
});

test('Escape leaves the option, then clears the text, then leaves the box', () => {
  expect(pressed('si', 'size>', 'Escape')).toEqual(['close']);
  expect(pressed('si', undefined, 'Escape')).toEqual(['close', 'apply ']);
  expect(pressed('', undefined, 'Escape')).toEqual(['close', 'leave']);
  expect(pressed('si', undefined, 'x')).toBe('not taken');
});

import { expect, test } from 'vitest';
import { onSearchKey } from './search-keys.ts';

/** What keys made the box do, in words. */
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

test('Escape leaves the option, then clears, then leaves the box', () => {
  expect(pressed('si', 'size>', 'Escape')).toEqual(['close']);
  expect(pressed('si', undefined, 'Escape')).toEqual(['close', 'apply ']);
  expect(pressed('', undefined, 'Escape')).toEqual(['close', 'leave']);
  expect(pressed('si', undefined, 'x')).toBe('not taken');
});

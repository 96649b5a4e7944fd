import { expect, it } from 'vitest';
import { onStateKey, type StateActions } from './state-keys.ts';

function press(key: string, held: { shiftKey?: boolean; ctrlKey?: boolean } = {}) {
  const done: string[] = [];
  const note =
    (name: string) =>
    (...args: readonly number[]) => {
      done.push([name, ...args].join(' '));
    };
  const actions: StateActions = {
    step: note('step'),
    firstEvent: note('first'),
    lastEvent: note('last'),
    moveRow: note('row'),
    movePage: note('page'),
    moveBlock: note('block'),
    open: note('open'),
    deselect: note('deselect'),
  };
  const event = { key, altKey: false, ctrlKey: false, metaKey: false, shiftKey: false, ...held };
  return { isTaken: onStateKey(event, actions), done };
}

it.each([
  ['ArrowRight', {}, 'step 1'],
  ['ArrowLeft', { shiftKey: true }, 'step -100'],
  ['Home', {}, 'first'],
  ['End', {}, 'last'],
  ['ArrowDown', {}, 'row 1'],
  ['ArrowUp', { shiftKey: true }, 'block -1'],
  ['PageDown', {}, 'page 1'],
  ['Enter', {}, 'open'],
  ['Escape', {}, 'deselect'],
])('%s %o: %s', (key, held, expected) => {
  expect(press(key, held)).toEqual({ isTaken: true, done: [expected] });
});

it('leaves other keys, and those with Ctrl, to the browser', () => {
  expect(press('x')).toEqual({ isTaken: false, done: [] });
  expect(press('ArrowLeft', { ctrlKey: true })).toEqual({ isTaken: false, done: [] });
});

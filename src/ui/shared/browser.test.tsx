// @vitest-environment jsdom
import { render } from '@testing-library/react';
import { useLayoutEffect } from 'react';
import { expect, it } from 'vitest';
import { useKeys } from './browser.ts';

const pressed: number[] = [];

function Page({ shown }: { readonly shown: number }) {
  useKeys(() => pressed.push(shown) > 0);
  // As early as possible: the content was just put on the page.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a key for each
  useLayoutEffect(() => pressKey(), [shown]);
  return null;
}

const pressKey = () => void window.dispatchEvent(new KeyboardEvent('keydown', { key: 'x' }));

it('passes a key to what is on screen, however early it is pressed', () => {
  const page = render(<Page shown={1} />);
  page.rerender(<Page shown={2} />);
  expect(pressed).toEqual([1, 2]);
  page.unmount();
  pressKey();
  expect(pressed).toEqual([1, 2]);
});

/** A user of the page in an engine: finds things by what is visible, and waits for what is visible. */
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import type { Engine, InputSource } from './engine.ts';

interface Place {
  readonly x: number;
  readonly y: number;
}
interface Box extends Place {
  readonly width: number;
  readonly height: number;
}

/** Something on the page: a selector, and a text that it contains. */
export interface What {
  readonly selector: string;
  readonly text?: string;
}

const ORIGIN = 'viewport';
const pointer = (...actions: InputSource['actions']): InputSource => ({
  type: 'pointer',
  id: 'mouse',
  actions,
});
const moveTo = ({ x, y }: Place, duration = 0) => ({
  type: 'pointerMove',
  x: Math.round(x),
  y: Math.round(y),
  duration,
  origin: ORIGIN,
});
const DOWN = { type: 'pointerDown', button: 0 };
const UP = { type: 'pointerUp', button: 0 };

export class Visitor {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Opens a page and records everything that goes wrong in it from then on. */
  async visit(url: string): Promise<void> {
    await this.#engine.goto('about:blank');
    await this.#engine.goto(url);
    await this.#engine.evaluate(() => {
      const faults: string[] = [];
      const note = (event: Event) => {
        const { target } = event;
        // This only says that a size is checked again in the next frame, which is not an error.
        if ('message' in event && /^ResizeObserver loop/.test(String(event.message))) return;
        const of = target instanceof Element ? ` of ${target.outerHTML.slice(0, 200)}` : '';
        faults.push(`${event.type}${of}: ${'message' in event ? event.message : ''}`);
      };
      window.addEventListener('error', note, true);
      window.addEventListener('unhandledrejection', (event) =>
        faults.push(`unhandled: ${event.reason}`),
      );
      document.addEventListener('securitypolicyviolation', (event) =>
        faults.push(`policy: ${event.violatedDirective} ${event.blockedURI}`),
      );
      window.faultsOfPage = faults;
    });
  }

  /** What the page threw, what it could not load, and what its policy forbade. */
  faults(): Promise<readonly string[]> {
    return this.#engine.evaluate(() => window.faultsOfPage ?? ['The page was loaded anew']);
  }

  /** Gives a snapshot to the page, and waits until it is drawn. */
  async open(path: string): Promise<void> {
    await expect
      .poll(() => this.ask(() => document.querySelector('input[type=file]') !== null))
      .toBe(true);
    await this.#engine.upload(path);
    await this.sees({ selector: '[data-testid=view-tabs]' });
    await this.idle();
    expect(await this.textOf('[data-testid=error]')).toBe('');
  }

  async idle(): Promise<void> {
    await this.#engine.evaluate(() => window.vramscope?.whenIdle());
  }

  url(): Promise<string> {
    return this.#engine.evaluate(() => window.location.href);
  }

  /** '' if there is none. */
  textOf(selector: string): Promise<string> {
    return this.#engine.evaluate(
      (wanted) => document.querySelector(wanted)?.textContent ?? '',
      selector,
    );
  }

  async sees(what: What): Promise<Box> {
    let box: Box | null = null;
    const find = async () => {
      box = await this.#boxOf(what);
      return box !== null;
    };
    await expect.poll(find, JSON.stringify(what)).toBe(true);
    return box ?? { x: 0, y: 0, width: 0, height: 0 };
  }

  /** The place at a share of its width and height, from the top left. */
  async placeIn(what: What, fromLeft = 0.5, fromTop = 0.5): Promise<Place> {
    const { x, y, width, height } = await this.sees(what);
    return { x: x + width * fromLeft, y: y + height * fromTop };
  }

  async click(what: What): Promise<void> {
    await this.clickAt(await this.placeIn(what));
  }

  clickAt(place: Place): Promise<void> {
    return this.#engine.perform([pointer(moveTo(place), DOWN, UP)]);
  }

  hover(place: Place): Promise<void> {
    return this.#engine.perform([pointer(moveTo(place))]);
  }

  drag(from: Place, to: Place): Promise<void> {
    return this.#engine.perform([pointer(moveTo(from), DOWN, moveTo(to, 200), UP)]);
  }

  wheel({ x, y }: Place, deltaY: number): Promise<void> {
    const place = { x: Math.round(x), y: Math.round(y) };
    const scroll = { type: 'scroll', ...place, deltaX: 0, deltaY, duration: 0, origin: ORIGIN };
    return this.#engine.perform([{ type: 'wheel', id: 'wheel', actions: [scroll] }]);
  }

  type(text: string): Promise<void> {
    const actions = [...text].flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ]);
    return this.#engine.perform([{ type: 'key', id: 'keys', actions }]);
  }

  /** The file that the page saves when `button` is clicked. */
  async saves(button: What, name: string): Promise<{ path: string; bytes: Buffer }> {
    const path = join(this.#engine.downloads, name);
    rmSync(path, { force: true });
    await this.click(button);
    let before = -1;
    const isWhole = () => {
      // Firefox first makes an empty file, and then fills another one that replaces it.
      const size = existsSync(path) && !existsSync(`${path}.part`) ? statSync(path).size : 0;
      const isSame = size > 0 && size === before;
      before = size;
      return isSame;
    };
    await expect.poll(isWhole, { message: `${name} is saved`, intervals: [200] }).toBe(true);
    return { path, bytes: readFileSync(path) };
  }

  /** Calls a function in the page, for things that no user could tell. */
  ask<Args extends readonly unknown[], Result>(
    call: (...args: Args) => Result | Promise<Result>,
    ...args: Args
  ): Promise<Result> {
    return this.#engine.evaluate(call, ...args);
  }

  /** Null if it is not on the page, or not visible. */
  #boxOf({ selector, text = '' }: What): Promise<Box | null> {
    return this.#engine.evaluate(
      (wanted, words) => {
        const found = [...document.querySelectorAll(wanted)].find(
          (one) => (one.textContent ?? '').includes(words) && one.getClientRects().length > 0,
        );
        if (found === undefined) return null;
        found.scrollIntoView({ block: 'nearest', inline: 'nearest' });
        const { x, y, width, height } = found.getBoundingClientRect();
        return { x, y, width, height };
      },
      selector,
      text,
    );
  }
}

declare global {
  interface Window {
    faultsOfPage?: string[];
  }
}

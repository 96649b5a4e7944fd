import type { TooltipContent } from './tooltip-content.ts';

/** Distance from the pointer, so that it never covers what it speaks of. */
const OFFSET = 14;

/** A tooltip that is filled and moved without React, at the pace of the pointer. */
export class Tooltip {
  readonly #element: HTMLElement;
  #content: TooltipContent | undefined;
  /** Asked for once a content: it costs a layout. */
  #size = { width: 0, height: 0 };

  constructor(element: HTMLElement) {
    this.#element = element;
  }

  /** `x` and `y` are CSS pixels in the window. */
  show(content: TooltipContent, x: number, y: number): void {
    if (content !== this.#content) this.#fill(content);
    const { width, height } = this.#size;
    const fitsRight = x + OFFSET + width < window.innerWidth;
    const fitsBelow = y + OFFSET + height < window.innerHeight;
    const left = fitsRight ? x + OFFSET : Math.max(0, x - OFFSET - width);
    const top = fitsBelow ? y + OFFSET : Math.max(0, y - OFFSET - height);
    this.#element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  hide(): void {
    this.#element.hidden = true;
    this.#content = undefined;
  }

  #fill(content: TooltipContent): void {
    const { title, label, lines } = content;
    const head = element('div', 'tooltip-head', '');
    head.append(element('strong', '', title), element('code', '', label));
    const rest = lines.map((line) => element('div', 'tooltip-line', line));
    this.#element.replaceChildren(head, ...rest);
    this.#element.hidden = false;
    this.#content = content;
    this.#size = { width: this.#element.offsetWidth, height: this.#element.offsetHeight };
  }
}

function element(tag: 'strong' | 'code' | 'div', className: string, text: string): HTMLElement {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

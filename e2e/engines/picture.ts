/** Checks that an exported picture shows the plot at its place in the page. */
import type { Visitor } from './visitor.ts';

/** Height of the title above the view, and picture pixels per page pixel. */
const TITLE_HEIGHT = 32;
const SCALE = 2;

export interface Likeness {
  readonly width: number;
  /** How many places were compared. */
  readonly places: number;
  /** Share of these places where the picture has the plot's color. */
  readonly same: number;
  /** The same, assuming that the picture's plot is higher by the title's height. */
  readonly sameHigher: number;
}

/**
 * Keeps what the plot shows, to be compared later: a browser may show a bar with what it saved, and the view becomes
 * smaller.
 */
export async function keepPlot(visitor: Visitor): Promise<void> {
  await visitor.ask(() => {
    const view = document.querySelector('#view-picture');
    const plot = document.querySelector('[data-testid=timeline]');
    if (view === null || plot === null) throw new Error('There is no plot');
    const origin = view.getBoundingClientRect();
    const page = document.createElement('canvas');
    Object.assign(page, { width: Math.round(origin.width), height: Math.round(origin.height) });
    const context = page.getContext('2d');
    if (context === null) throw new Error('There is no context');
    context.fillStyle = getComputedStyle(document.body).backgroundColor;
    context.fillRect(0, 0, origin.width, origin.height);
    for (const canvas of plot.querySelectorAll('canvas')) {
      const { x, y, width, height } = canvas.getBoundingClientRect();
      context.drawImage(canvas, x - origin.x, y - origin.y, width, height);
    }
    const box = plot.getBoundingClientRect();
    const [left, top] = [Math.ceil(box.x - origin.x), Math.ceil(box.y - origin.y)];
    const { data, width, height } = context.getImageData(
      left,
      top,
      Math.floor(box.width),
      Math.floor(box.height),
    );
    window.keptPlot = { left, top, data, width, height };
  });
}

/**
 * Compares the plot that was kept with a picture of the view, at a grid of places with uniform color, because edges
 * are redrawn at twice the size. Anything over the plot that is not a canvas differs.
 */
export function likeness(visitor: Visitor, png: Buffer): Promise<Likeness> {
  return visitor.ask(
    async (base64, titleHeight, scale) => {
      const { keptPlot: plot } = window;
      const image = new Image();
      image.src = `data:image/png;base64,${base64}`;
      await image.decode();
      const { naturalWidth: width, naturalHeight: height } = image;
      const canvas = document.createElement('canvas');
      Object.assign(canvas, { width, height });
      const context = canvas.getContext('2d');
      if (context === null || plot === undefined) throw new Error('There is nothing to compare');
      context.drawImage(image, 0, 0);
      const picture = context.getImageData(0, 0, width, height).data;

      const isNear = (at: number, others: Uint8ClampedArray, there: number) =>
        [0, 1, 2].every(
          (i) => Math.abs((plot.data[at + i] ?? 0) - (others[there + i] ?? 999)) < 24,
        );
      const indexAt = (x: number, y: number) => (y * plot.width + x) * 4;
      const isFlat = (x: number, y: number) =>
        [-1, 0, 1].every((dy) =>
          [-1, 0, 1].every((dx) => isNear(indexAt(x, y), plot.data, indexAt(x + dx, y + dy))),
        );
      const isSame = (x: number, y: number, shift: number) => {
        const row = (plot.top + y + titleHeight - shift) * scale + 1;
        return isNear(indexAt(x, y), picture, (row * width + (plot.left + x) * scale + 1) * 4);
      };
      const STEP = 5;
      const counts = { places: 0, same: 0, higher: 0 };
      for (let y = STEP; y < plot.height - STEP; y += STEP) {
        for (let x = STEP; x < plot.width - STEP; x += STEP) {
          if (!isFlat(x, y)) continue;
          counts.places++;
          if (isSame(x, y, 0)) counts.same++;
          if (isSame(x, y, titleHeight)) counts.higher++;
        }
      }
      const { places, same, higher } = counts;
      return { width, places, same: same / places, sameHigher: higher / places };
    },
    png.toString('base64'),
    TITLE_HEIGHT,
    SCALE,
  );
}

declare global {
  interface Window {
    /** Pixels, and where they are in the view. */
    keptPlot?: {
      readonly left: number;
      readonly top: number;
      readonly width: number;
      readonly height: number;
      readonly data: Uint8ClampedArray;
    };
  }
}

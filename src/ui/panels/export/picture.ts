/** The view as a picture: figures, axes, plot and legend as on the page, and a title. */

export type PictureKind = 'png' | 'svg';

export const PICTURE_ID = 'view-picture';

/** Doubles the resolution, so pictures are sharp in documents. */
const PIXEL_RATIO = 2;
const TITLE_HEIGHT = 32;
const TITLE_X = 12;
const TITLE_BASELINE = 21;
const TITLE_FONT = '600 14px system-ui, sans-serif';

interface Frame {
  readonly title: string;
  readonly width: number;
  readonly height: number;
  readonly background: string;
  readonly color: string;
}

/** @throws Error with a message for the user if there is no view to export, or the browser can't draw it */
export async function takePicture(kind: PictureKind, title: string): Promise<Blob> {
  const element = document.getElementById(PICTURE_ID);
  if (element === null) throw new Error('There is no view to capture.');
  const { backgroundColor, color } = getComputedStyle(document.body);
  const { width, height } = element.getBoundingClientRect();
  const frame: Frame = { title, width, height, background: backgroundColor, color };
  const view = await copyOf(element, backgroundColor);
  if (kind === 'png') return drawn(view, frame);
  return new Blob([titledSvg(view, frame)], { type: 'image/svg+xml' });
}

/** Tells the copy how far the original is scrolled: "left,top" in CSS pixels. */
const SCROLLED = 'data-scrolled';

/** Styles of the axes and the minimap that come from style sheets, which the picture lacks. */
const SVG_STYLES = [
  'display',
  'fill',
  'fill-opacity',
  'font-family',
  'font-size',
  'shape-rendering',
  'stroke',
  'stroke-opacity',
];

/**
 * Stands in for the `style` attribute while the copy is a document. Under its own name, the parser would report each of
 * a few hundred as a violation of the page's security policy.
 */
const STYLE = 'data-copied-style';

/** The element as SVG markup. Canvases become images; the library copies the styles of HTML. */
async function copyOf(element: HTMLElement, backgroundColor: string): Promise<string> {
  const { toSvg } = await import('html-to-image');
  const scrolled = [...element.querySelectorAll('*')].filter(
    ({ scrollLeft, scrollTop }) => scrollLeft !== 0 || scrollTop !== 0,
  );
  for (const part of scrolled) part.setAttribute(SCROLLED, `${part.scrollLeft},${part.scrollTop}`);
  try {
    const url = await toSvg(element, { skipFonts: true, backgroundColor });
    const markup = decodeURIComponent(url.slice(url.indexOf(',') + 1));
    const inert = markup.replaceAll(' style="', ` ${STYLE}="`);
    const copy = new DOMParser().parseFromString(inert, 'image/svg+xml');
    mend(copy, element);
    const mended = new XMLSerializer().serializeToString(copy.documentElement);
    return mended.replaceAll(` ${STYLE}="`, ' style="');
  } finally {
    for (const part of scrolled) part.removeAttribute(SCROLLED);
  }
}

/** Adds what the library leaves out: styles within SVG, and scroll positions of lists. */
function mend(copy: Document, element: HTMLElement): void {
  const parts = copy.querySelectorAll('foreignObject svg *');
  [...element.querySelectorAll('svg *')].forEach((part, index) => {
    const style = getComputedStyle(part);
    const text = SVG_STYLES.map((name) => `${name}:${style.getPropertyValue(name)}`);
    addStyle(parts[index], text.join(';'));
  });
  for (const part of copy.querySelectorAll(`[${SCROLLED}]`)) {
    const [left = 0, top = 0] = (part.getAttribute(SCROLLED) ?? '').split(',').map(Number);
    for (const child of part.children) {
      addStyle(child, `translate:${-left}px ${isSticky(child) ? 0 : -top}px`);
      // Undo the shift of sticky headers, which moved with their parent.
      for (const inner of [...child.querySelectorAll(`[${STYLE}]`)].filter(isSticky)) {
        if (!isSticky(child)) addStyle(inner, `translate:0 ${top}px`);
      }
    }
  }
  // Otherwise the picture may have scrollbars, and may appear before its canvases are decoded.
  for (const part of copy.querySelectorAll(`foreignObject [${STYLE}*="overflow"]`)) {
    addStyle(part, 'scrollbar-width:none');
  }
  for (const image of copy.querySelectorAll('img')) image.setAttribute('decoding', 'sync');
}

const isSticky = (part: Element): boolean =>
  /position: sticky/.test(part.getAttribute(STYLE) ?? '');

function addStyle(part: Element | undefined, style: string): void {
  part?.setAttribute(STYLE, `${part.getAttribute(STYLE) ?? ''};${style}`);
}

/** Wraps the view's SVG in one with a title above it. */
function titledSvg(view: string, { title, width, height, background, color }: Frame): string {
  const nested = view.replace('<svg ', `<svg y="${TITLE_HEIGHT}" `);
  const escapedTitle = new XMLSerializer().serializeToString(document.createTextNode(title));
  const whole = height + TITLE_HEIGHT;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${whole}" ` +
    `viewBox="0 0 ${width} ${whole}" role="img"><title>${escapedTitle}</title>` +
    `<rect width="100%" height="100%" fill="${background}"/>` +
    `<text x="${TITLE_X}" y="${TITLE_BASELINE}" style="font:${TITLE_FONT}" fill="${color}">${escapedTitle}</text>` +
    `${nested}</svg>`
  );
}

/**
 * Draws the title separately, not in the view's SVG: in a nested SVG, WebKit moves axes down but not the canvases
 * between them.
 */
async function drawn(
  view: string,
  { title, width, height, background, color }: Frame,
): Promise<Blob> {
  const image = new Image();
  // Not a blob URL: drawing HTML from one taints the canvas.
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(view)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(width * PIXEL_RATIO);
  canvas.height = Math.round((height + TITLE_HEIGHT) * PIXEL_RATIO);
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('Your browser cannot create images here.');
  context.scale(PIXEL_RATIO, PIXEL_RATIO);
  context.fillStyle = background;
  context.fillRect(0, 0, width, height + TITLE_HEIGHT);
  context.fillStyle = color;
  context.font = TITLE_FONT;
  context.fillText(title, TITLE_X, TITLE_BASELINE);
  context.drawImage(image, 0, TITLE_HEIGHT, width, height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob === null) reject(new Error('The picture is larger than your browser can write.'));
      else resolve(blob);
    });
  });
}

/** What one sees, as a picture: figures, axes, plot and legend as they stand on the page, and a title. */

export type PictureKind = 'png' | 'svg';

/** Marks the element that a picture is taken of. */
export const PICTURE_ID = 'view-picture';

/** Twice the pixels: sharp in a document. */
const PIXEL_RATIO = 2;
const TITLE_HEIGHT = 32;
const TITLE_FONT = '600 14px system-ui, sans-serif';

interface Frame {
  readonly title: string;
  readonly width: number;
  readonly height: number;
  readonly background: string;
  readonly color: string;
}

/** @throws Error in words for the user where there is nothing to take, or the browser cannot */
export async function takePicture(kind: PictureKind, title: string): Promise<Blob> {
  const element = document.getElementById(PICTURE_ID);
  if (element === null) throw new Error('There is no view to take a picture of.');
  const { toCanvas, toSvg } = await import('html-to-image');
  const { backgroundColor, color } = getComputedStyle(document.body);
  const { width, height } = element.getBoundingClientRect();
  const frame: Frame = { title, width, height, background: backgroundColor, color };
  const options = { skipFonts: true, backgroundColor, pixelRatio: PIXEL_RATIO };
  if (kind === 'svg') return titledSvg(await toSvg(element, options), frame);
  return titledPng(await toCanvas(element, options), frame);
}

/** The view's SVG inside one that has the title above it. */
function titledSvg(url: string, { title, width, height, background, color }: Frame): Blob {
  const view = decodeURIComponent(url.slice(url.indexOf(',') + 1));
  const nested = view.replace('<svg ', `<svg y="${TITLE_HEIGHT}" `);
  const words = escaped(title);
  const whole = height + TITLE_HEIGHT;
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${whole}" ` +
    `viewBox="0 0 ${width} ${whole}" role="img"><title>${words}</title>` +
    `<rect width="100%" height="100%" fill="${background}"/>` +
    `<text x="12" y="21" style="font:${TITLE_FONT}" fill="${color}">${words}</text>` +
    `${nested}</svg>`;
  return new Blob([svg], { type: 'image/svg+xml' });
}

function titledPng(view: HTMLCanvasElement, frame: Frame): Promise<Blob> {
  const canvas = document.createElement('canvas');
  const titleHeight = TITLE_HEIGHT * PIXEL_RATIO;
  canvas.width = view.width;
  canvas.height = view.height + titleHeight;
  const context = canvas.getContext('2d');
  if (context === null) return Promise.reject(new Error('The browser draws no pictures.'));
  context.fillStyle = frame.background;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(view, 0, titleHeight);
  context.scale(PIXEL_RATIO, PIXEL_RATIO);
  context.fillStyle = frame.color;
  context.font = TITLE_FONT;
  context.fillText(frame.title, 12, 21);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob === null) reject(new Error('The picture is larger than the browser can write.'));
      else resolve(blob);
    });
  });
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

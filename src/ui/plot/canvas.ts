/** What canvases share: sharp pixels, texts cut to fit, memory freed early. */
import type { TimelineFrame } from '../../draw/timeline/types.ts';

/** Clears a canvas and sizes it for the screen; its context uses CSS pixels. Undefined while it is hidden. */
export function blankCanvas(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  pixelRatio: number,
): CanvasRenderingContext2D | undefined {
  const context = canvas.getContext('2d');
  if (context === null || width === 0 || height === 0) return undefined;
  setSize(canvas, Math.round(width * pixelRatio), Math.round(height * pixelRatio));
  context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  return context;
}

/** Setting a size allocates a new buffer, even if the size is unchanged. */
function setSize(canvas: HTMLCanvasElement, width: number, height: number): void {
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
}

/** Fewer say nothing. */
const MIN_LETTERS = 3;

/** Cuts a text to fit, with '…' at the end; '' if hardly a letter fits. */
export function elided(
  context: Pick<CanvasRenderingContext2D, 'measureText'>,
  text: string,
  maxWidth: number,
): string {
  const { width } = context.measureText(text);
  if (width <= maxWidth) return text;
  // Letters differ in width: start from a guess and shorten until it fits.
  for (let length = Math.floor((text.length * maxWidth) / width); length >= MIN_LETTERS; length--) {
    const part = `${text.slice(0, length)}…`;
    if (context.measureText(part).width <= maxWidth) return part;
  }
  return '';
}

export function putFrame(
  canvas: HTMLCanvasElement,
  { viewport: { width, height }, pixels }: Pick<TimelineFrame, 'viewport' | 'pixels'>,
): void {
  const { buffer, byteOffset, byteLength } = pixels;
  if (!(buffer instanceof ArrayBuffer)) return;
  setSize(canvas, width, height);
  const bytes = new Uint8ClampedArray(buffer, byteOffset, byteLength);
  canvas.getContext('2d')?.putImageData(new ImageData(bytes, width, height), 0, 0);
}

/** Frees a canvas's memory now (5 to 20 MB with the browser's copies), not at the next garbage collection. */
export function releasePixels(canvas: HTMLCanvasElement): void {
  canvas.width = 0;
  canvas.height = 0;
}

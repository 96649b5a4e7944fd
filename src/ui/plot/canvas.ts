/** For canvases: as sharp as the screen, texts cut to fit, memory given back. */

/** A blank canvas whose context counts in CSS pixels; undefined while it is not shown. */
export function blankCanvas(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  pixelRatio: number,
): CanvasRenderingContext2D | undefined {
  const context = canvas.getContext('2d');
  if (context === null || width === 0 || height === 0) return undefined;
  const [pixelWidth, pixelHeight] = [
    Math.round(width * pixelRatio),
    Math.round(height * pixelRatio),
  ];
  // Setting a size, also the same one, makes a new buffer.
  if (canvas.width !== pixelWidth) canvas.width = pixelWidth;
  if (canvas.height !== pixelHeight) canvas.height = pixelHeight;
  context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  return context;
}

/** As much of a text as there is room for, the end replaced by '…'; '' where not even a letter has any. */
export function elided(
  context: Pick<CanvasRenderingContext2D, 'measureText'>,
  text: string,
  room: number,
): string {
  const { width } = context.measureText(text);
  if (width <= room) return text;
  // Letters differ in width: begin with a guess, and take away until it fits.
  for (let length = Math.floor((text.length * room) / width); length > 0; length--) {
    const part = `${text.slice(0, length)}…`;
    if (context.measureText(part).width <= room) return part;
  }
  return '';
}

/** Lets go of a canvas's memory at once, 5 to 20 MB with the browser's copies, and not when garbage is next collected. */
export function releasePixels(canvas: HTMLCanvasElement): void {
  canvas.width = 0;
  canvas.height = 0;
}

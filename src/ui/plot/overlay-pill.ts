export const PILL_HEIGHT = 15;

/** A label across a vertical line at `x`, kept inside the plot. */
export function paintPill(
  context: CanvasRenderingContext2D,
  text: string,
  at: { readonly x: number; readonly top: number; readonly width: number },
  color: string,
  ink: string,
): void {
  const textWidth = pillWidth(context, text);
  const left = Math.max(0, Math.min(at.x - textWidth / 2, at.width - textWidth));
  context.fillStyle = color;
  context.beginPath();
  context.roundRect(left, at.top, textWidth, PILL_HEIGHT, 3);
  context.fill();
  context.fillStyle = ink;
  context.fillText(text, left + 5, at.top + PILL_HEIGHT / 2 + 0.5);
}

export function pillWidth(context: CanvasRenderingContext2D, text: string): number {
  return Math.ceil(context.measureText(text).width) + 10;
}

/** Keys of the plot when it has the focus. */
import type { PlotNavigation } from './plot-navigation.ts';

const PAN_SHARE = 0.1;
const ZOOM_STEP = 1.5;

/** The part of a keyboard event that counts. */
export type PlotKey = Pick<KeyboardEvent, 'key' | 'altKey' | 'ctrlKey' | 'metaKey' | 'shiftKey'>;

/** Does what the key stands for; false when it stands for nothing here. */
export function onPlotKey(event: PlotKey, plot: PlotNavigation): boolean {
  // Ctrl and Meta are the browser's.
  if (event.ctrlKey || event.metaKey) return false;
  const action = actionOf(event, plot);
  action?.();
  return action !== undefined;
}

function actionOf(
  { key, altKey, shiftKey }: PlotKey,
  plot: PlotNavigation,
): (() => void) | undefined {
  switch (key) {
    case 'ArrowLeft':
      return () => plot.panShare(-PAN_SHARE, 0);
    case 'ArrowRight':
      return () => plot.panShare(PAN_SHARE, 0);
    case 'ArrowUp':
      return shiftKey ? () => void plot.pinNeighbour(1) : () => plot.panShare(0, PAN_SHARE);
    case 'ArrowDown':
      return shiftKey ? () => void plot.pinNeighbour(-1) : () => plot.panShare(0, -PAN_SHARE);
    case '+':
    case '=':
      return () => (altKey ? plot.zoomY(ZOOM_STEP) : plot.zoomX(ZOOM_STEP));
    case '-':
    case '_':
      return () => (altKey ? plot.zoomY(1 / ZOOM_STEP) : plot.zoomX(1 / ZOOM_STEP));
    case '0':
    case 'f':
      return () => plot.fit();
    case '[':
      return () => plot.stepEvent(-1);
    case ']':
      return () => plot.stepEvent(1);
    case '{':
      return () => plot.stepOom(-1);
    case '}':
      return () => plot.stepOom(1);
    case 'Enter':
      return () => void plot.pinNewest();
    case 'Escape':
      return () => plot.clear();
    default:
      return undefined;
  }
}

/** Keys that move the cursor and the mark, wherever the focus is. */
import type { DeviceInfo } from '../../../device/model/types.ts';
import { useStores } from '../../../state/stores.ts';
import type { ViewStore } from '../../../state/view-store.ts';
import { isTextField, useKeyDown } from '../../shared/browser.ts';
import { useDevice } from '../../shared/services.ts';
import { BIG_STEP, cursorEvent, nextOom, stepped } from './cursor-steps.ts';

/** Does what the key stands for; false when it stands for nothing here. */
export function onCursorKey(key: string, device: DeviceInfo, view: ViewStore): boolean {
  const action = actionOf(key, device, view);
  action?.();
  return action !== undefined;
}

function actionOf(key: string, device: DeviceInfo, view: ViewStore): (() => void) | undefined {
  const { cursor } = view.getState().view;
  const { peaks } = device;
  const goTo = (event: number | undefined) => () => {
    if (event !== undefined && event >= 0) view.commit({ cursor: event });
  };
  switch (key) {
    case ',':
      return () => view.move({ cursor: stepped(device, cursor, -1) });
    case '.':
      return () => view.move({ cursor: stepped(device, cursor, 1) });
    case '<':
      return () => view.move({ cursor: stepped(device, cursor, -BIG_STEP) });
    case '>':
      return () => view.move({ cursor: stepped(device, cursor, BIG_STEP) });
    case 'p':
      return goTo(peaks.allocatedBytes.event);
    case 'r':
      return goTo(peaks.reservedBytes.event);
    case 'o':
      return goTo(nextOom(device, cursor, 1));
    case 'O':
      return goTo(nextOom(device, cursor, -1));
    case 'e':
      return goTo(device.events - 1);
    case 'm':
      return () => view.commit({ mark: cursorEvent(device, cursor) });
    case 'M':
      return () => view.commit({ mark: undefined });
    default:
      return undefined;
  }
}

/** Listens to {@link onCursorKey}'s keys outside of text fields and dialogs. */
export function useCursorKeys(): void {
  const { device } = useDevice();
  const { view } = useStores();
  useKeyDown((event) => {
    if (device.events === 0) return;
    const { key, ctrlKey, altKey, metaKey, target, defaultPrevented } = event;
    if (defaultPrevented || ctrlKey || altKey || metaKey || isTextField(target)) return;
    if (target instanceof Element && target.closest('dialog') !== null) return;
    if (onCursorKey(key, device, view)) event.preventDefault();
  });
}

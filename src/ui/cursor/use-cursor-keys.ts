import { useEffect } from 'react';
import { useStores } from '../../state/stores.ts';
import { useDevice } from '../shared/device-context.ts';
import { isTextField } from '../shared/use-shortcut.ts';
import { onCursorKey } from './cursor-keys.ts';

/** Listens to {@link onCursorKey}'s keys outside of text fields and dialogs. */
export function useCursorKeys(): void {
  const { device } = useDevice();
  const { view } = useStores();
  useEffect(() => {
    if (device.events === 0) return;
    function onKeyDown(event: KeyboardEvent) {
      const { key, ctrlKey, altKey, metaKey, target, defaultPrevented } = event;
      if (defaultPrevented || ctrlKey || altKey || metaKey || isTextField(target)) return;
      if (target instanceof Element && target.closest('dialog') !== null) return;
      if (onCursorKey(key, device, view)) event.preventDefault();
    }
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [device, view]);
}

import { type ComponentType, useEffect, useState } from 'react';
import { useServices } from '../shared/services.ts';

interface HelpProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** The help, fetched on first use; without a network it stays closed. */
export function LazyHelp({ isOpen, onClose }: HelpProps) {
  const { idle } = useServices();
  const [Dialog, setDialog] = useState<ComponentType<HelpProps>>();
  const isWanted = isOpen && Dialog === undefined;
  useEffect(() => {
    if (!isWanted) return;
    const fetchDialog = async () => {
      const { HelpDialog } = await import('../help/help-dialog.tsx');
      // A function given to a setter is called: hand it one that gives the component.
      setDialog(() => HelpDialog);
    };
    idle.during(fetchDialog).catch(onClose);
  }, [isWanted, idle, onClose]);
  return Dialog && <Dialog isOpen={isOpen} onClose={onClose} />;
}

/**
 * What is needed only once there is something to show: D3, the panels, the timeline. It is fetched
 * as soon as a file is in sight, while the worker reads, so that the empty page stays light.
 *
 * Not React.lazy: React holds what was suspended back for 300 ms after a fallback, and a small
 * snapshot is on screen in half of that. An opening waits for both the snapshot and its views.
 */
type Workbench = typeof import('./workbench.tsx');

let loading: Promise<Workbench> | undefined;
let loaded: Workbench | undefined;

/** May be called often: fetches once, and again only after a failure. */
export async function loadWorkbench(): Promise<void> {
  loading ??= import('./workbench.tsx');
  try {
    loaded = await loading;
  } catch (error) {
    loading = undefined;
    throw error;
  }
}

/** Starts loading; a failure is reported when the views are needed. */
export function preloadWorkbench(): void {
  loadWorkbench().catch(() => undefined);
}

/** Undefined until they are loaded. */
export function loadedWorkbench(): Workbench | undefined {
  return loaded;
}

/**
 * What is needed only once there is something to show: D3, panels, popovers. It is fetched as soon
 * as a file is in sight, while the worker reads, so that the empty page stays light.
 */
import { lazy } from 'react';

const importWorkbench = () => import('./workbench.tsx');
const importFileFacts = () => import('../header/file-facts.tsx');
const importHelp = () => import('../help/help-dialog.tsx');

export const Workbench = lazy(async () => ({ default: (await importWorkbench()).Workbench }));
export const FileFacts = lazy(async () => ({ default: (await importFileFacts()).FileFacts }));
export const HelpDialog = lazy(async () => ({ default: (await importHelp()).HelpDialog }));

/** May be called often; what has come is not fetched again. */
export function fetchViews(): void {
  for (const fetchView of [importWorkbench, importFileFacts]) {
    // What fails here fails again, and is told, when the view is to be shown.
    fetchView().catch(() => undefined);
  }
}

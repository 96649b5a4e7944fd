import { type Lazy, useLazy } from '../../shared/lazy.ts';
import type { RanksPageProps } from '../ranks/ranks-page.tsx';
import type { GivenRanks } from '../ranks/use-job.ts';

interface HelpProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

const HELP: Lazy<HelpProps> = {
  load: async () => (await import('./help-dialog.tsx')).HelpDialog,
};
const RANKS: Lazy<RanksPageProps> = {
  load: async () => (await import('../ranks/ranks-page.tsx')).RanksPage,
};

/** The help; without a network it stays closed. */
export function LazyHelp({ isOpen, onClose }: HelpProps) {
  const Dialog = useLazy(HELP, isOpen, onClose);
  return Dialog && <Dialog isOpen={isOpen} onClose={onClose} />;
}

/** The ranks of a job, once there are any. */
export function LazyRanks({
  given,
  ...props
}: Omit<RanksPageProps, 'given'> & { readonly given: GivenRanks | undefined }) {
  const Page = useLazy(RANKS, given !== undefined, props.onClose);
  return given && Page && <Page given={given} {...props} />;
}

/**
 * What is needed only once there is something to show: D3, the panels, the timeline. It is fetched as soon as a file is
 * in sight, while the worker reads, so that the empty page stays light. An opening waits for the snapshot and for this.
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

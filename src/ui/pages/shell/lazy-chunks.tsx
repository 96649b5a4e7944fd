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

export function LazyHelp({ isOpen, onClose }: HelpProps) {
  const Dialog = useLazy(HELP, isOpen, onClose);
  return Dialog && <Dialog isOpen={isOpen} onClose={onClose} />;
}

export function LazyRanks({
  given,
  ...props
}: Omit<RanksPageProps, 'given'> & { readonly given: GivenRanks | undefined }) {
  const Page = useLazy(RANKS, given !== undefined, props.onClose);
  return given && Page && <Page given={given} {...props} />;
}

/**
 * What the page needs only once there is something to show: D3, the panels, the timeline. Fetched while the worker
 * reads the file, so the empty page stays light. An opening waits for both.
 */
type Workbench = typeof import('./workbench.tsx');

let loading: Promise<Workbench> | undefined;
let loaded: Workbench | undefined;

/** Cheap to call often: fetches once, and again only after a failure. */
export async function loadWorkbench(): Promise<Workbench> {
  loading ??= import('./workbench.tsx');
  try {
    loaded = await loading;
    return loaded;
  } catch (error) {
    loading = undefined;
    throw error;
  }
}

/** Undefined until it has loaded. */
export function loadedWorkbench(): Workbench | undefined {
  return loaded;
}

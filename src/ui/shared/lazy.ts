import { type ComponentType, useEffect, useReducer } from 'react';
import { useServices } from './services.ts';

/** A component with a chunk of its own. */
export interface Lazy<P> {
  readonly load: () => Promise<ComponentType<P>>;
  /** Once it has been fetched: from then on it renders at once. */
  component?: ComponentType<P>;
}

/**
 * Fetches a component when it is first wanted. Not React.lazy: React holds what was suspended back for 300 ms.
 * @param onFailure without a network; it is tried again when it is next wanted
 * @returns undefined until it is there
 */
export function useLazy<P>(
  lazy: Lazy<P>,
  isWanted: boolean,
  onFailure: () => void,
): ComponentType<P> | undefined {
  const { idle } = useServices();
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const isMissing = isWanted && lazy.component === undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is done on failure is no reason to fetch again
  useEffect(() => {
    if (!isMissing) return;
    const fetchComponent = async () => {
      lazy.component = await lazy.load();
      redraw();
    };
    idle.during(fetchComponent).catch(onFailure);
  }, [isMissing, lazy, idle]);
  return lazy.component;
}

import { type ComponentType, useEffect, useReducer } from 'react';
import { useServices } from './services.ts';

/** A component with a chunk of its own. */
export interface Lazy<P> {
  readonly load: () => Promise<ComponentType<P>>;
  /** Set once fetched: from then on it renders at once. */
  component?: ComponentType<P>;
}

/**
 * Fetches a component when first wanted. Not React.lazy, because React delays suspended content by 300 ms.
 * @param onFailure called without a network; the next use tries again
 * @returns undefined until fetched
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

/** Code in chunks of its own, fetched when first needed. */
import { useEffect, useReducer } from 'react';
import { useServices } from './services.ts';

/** A constant such as `() => import('./page.tsx')`: what it fetched is found by it. */
type Load<Code> = () => Promise<Code>;

const fetched = new WeakMap<Load<unknown>, unknown>();

export async function fetchCode<Code>(load: Load<Code>): Promise<Code> {
  const code = await load();
  fetched.set(load, code);
  return code;
}

/**
 * Fetches code when it is first wanted. Not React.lazy, because React delays suspended content by 300 ms.
 * @param onFailure called without a network; the next use tries again
 * @returns undefined until fetched
 */
export function useLazy<Code>(
  load: Load<Code>,
  isWanted: boolean,
  onFailure: () => void,
): Code | undefined {
  const { idle } = useServices();
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const code = fetched.get(load) as Code | undefined;
  const isMissing = isWanted && code === undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is done on failure is no reason to fetch again
  useEffect(() => {
    if (isMissing) idle.during(() => fetchCode(load)).then(redraw, onFailure);
  }, [isMissing, load, idle]);
  return code;
}

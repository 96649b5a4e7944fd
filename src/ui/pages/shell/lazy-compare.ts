/** The chunk of comparisons: known to the workbench alone, so that the empty page stays light. */
import type { IdleCounter } from '../../../worker/instrumentation.ts';
import type { OpenSource } from '../../../worker/protocol.ts';
import type { SecondSession } from '../compare/second-session.ts';

export type ComparePages = typeof import('../compare/compare-page.tsx');

let loaded: ComparePages | undefined;

/** Fetched when a second file is given. */
export async function loadCompare(): Promise<ComparePages> {
  loaded = await import('../compare/compare-page.tsx');
  return loaded;
}

/** Undefined until it is loaded. */
export const loadedCompare = (): ComparePages | undefined => loaded;

/** Begins to read the file that the open one is to be compared with. */
export const beginSecondSession = async (
  source: OpenSource,
  idle: IdleCounter,
): Promise<SecondSession> => (await loadCompare()).beginSecondSession(source, idle);

import { useEffect, useState } from 'react';
import { errorText } from '../../core/base/error-text.ts';
import type { SessionApi } from '../../engine/protocol.ts';
import { LatestOnly } from './latest-only.ts';
import { useServices } from './services.ts';

export interface Answer<A> {
  /** The newest that has come: of an earlier question while the last one's is awaited. */
  readonly value: A | undefined;
  /** True when `value` answers what is asked now. */
  readonly isCurrent: boolean;
  /** Why the last question could not be answered. */
  readonly failure: string | undefined;
}

/** What came of a question; `key` tells which. */
interface Outcome {
  readonly key: string;
  readonly failure: string | undefined;
}

/**
 * What the worker says to a question, anew when it changes or when another snapshot is opened.
 * @param ask a function of a module: `(session, question) => session.crosshair(question)`
 * @param question plain data; undefined asks nothing
 * @param about the open snapshot
 */
export function useQuery<Q, A>(
  ask: (session: SessionApi, question: Q) => Promise<A>,
  question: Q | undefined,
  about: object,
): Answer<A> {
  const { session } = useServices();
  const [asking, setAsking] = useState<LatestOnly<string, A>>();
  const [value, setValue] = useState<A>();
  const [outcome, setOutcome] = useState<Outcome>();
  const key = question === undefined ? undefined : JSON.stringify(question);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the answers of another snapshot are others
  useEffect(() => {
    const latest = new LatestOnly<string, A>({
      ask: (text) => ask(session, JSON.parse(text)),
      onAnswer: (text, answer) => {
        setValue(answer);
        setOutcome({ key: text, failure: undefined });
      },
      onError: (text, error) => setOutcome({ key: text, failure: errorText(error) }),
    });
    setOutcome(undefined);
    setAsking(latest);
    return () => latest.stop();
  }, [session, ask, about]);
  useEffect(() => {
    if (key !== undefined) asking?.want(key);
  }, [asking, key]);
  const own = outcome?.key === key ? outcome : undefined;
  const isCurrent = own !== undefined && own.failure === undefined;
  return { value, isCurrent, failure: own?.failure };
}

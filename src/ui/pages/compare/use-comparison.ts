import { useEffect, useState } from 'react';
import type { ComparisonSide } from '../../../analysis/compare/side.ts';
import { CancelledError, errorText } from '../../../base/errors.ts';
import type { PageComparison } from '../../../worker/handlers/compare.ts';
import { useServices } from '../../shared/services.ts';
import type { OpenSide } from './side-context.tsx';

export interface ComparedPair {
  /** Names the pair in later queries. */
  readonly pair: string;
  readonly a: ComparisonSide;
  readonly b: ComparisonSide;
  readonly comparison: PageComparison;
}

export type ComparisonState =
  | { readonly phase: 'comparing' }
  | { readonly phase: 'ready'; readonly compared: ComparedPair }
  | { readonly phase: 'failed'; readonly message: string };

let pairs = 0;

/** Each session gives its side, both at once; that of A compares them. */
export function useComparison(a: OpenSide, b: OpenSide, at: 'peak' | 'end'): ComparisonState {
  const { idle } = useServices();
  const [state, setState] = useState<ComparisonState>({ phase: 'comparing' });
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    setState({ phase: 'comparing' });
    const compare = async () => {
      const [sideA, sideB] = await Promise.all([a, b].map((side) => sideOf(side, at, signal)));
      if (sideA === undefined || sideB === undefined) throw new CancelledError();
      const pair = `${++pairs}`;
      const request = { deviceIndex: a.device.index, pair, a: sideA, b: sideB };
      const comparison = await a.session.comparison(request, { signal });
      return { pair, a: sideA, b: sideB, comparison };
    };
    idle.during(compare).then(
      (compared) => signal.aborted || setState({ phase: 'ready', compared }),
      (error: unknown) =>
        signal.aborted || setState({ phase: 'failed', message: errorText(error) }),
    );
    return () => controller.abort();
  }, [a, b, at, idle]);
  return state;
}

const sideOf = ({ session, info, device }: OpenSide, at: 'peak' | 'end', signal: AbortSignal) =>
  session.comparisonSide({ deviceIndex: device.index, file: info.file, at }, { signal });

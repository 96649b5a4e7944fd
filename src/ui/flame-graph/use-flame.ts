import { useEffect, useMemo, useState } from 'react';
import { errorText } from '../../core/base/error-text.ts';
import type { DeviceInfo, SessionInfo } from '../../core/device/types.ts';
import type {
  FlameAnswer,
  FlameQuestion,
  FlameRequest,
} from '../../engine/handlers/flame-graph.ts';
import { useView } from '../../state/stores.ts';
import { useServices } from '../shared/services.ts';
import { flameQuestion, flameRequest } from './flame-question.ts';

export interface FlameReady {
  readonly kind: 'ready';
  readonly answer: FlameAnswer;
  readonly request: FlameRequest;
  /** What the table asks: the same object while zooming alone. */
  readonly question: FlameQuestion;
}

export type FlameState =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly message: string }
  | FlameReady;

export interface AskedFlame {
  /** The last answer stays while the next is on its way. */
  readonly state: FlameState;
  readonly isBusy: boolean;
}

/** The boxes that the view asks for; nothing is asked before the width is known (0). */
export function useFlame(info: SessionInfo, device: DeviceInfo, widthPx: number): AskedFlame {
  const { session } = useServices();
  const [state, setState] = useState<FlameState>({ kind: 'loading' });
  const { index } = device;
  // Compared as texts: the view changes with each step of a pan, most of them no concern of ours.
  const requestText = useView((view) => JSON.stringify(flameRequest(view, index, widthPx)));
  const questionText = useView((view) => JSON.stringify(flameQuestion(view, index)));
  const request = useMemo((): FlameRequest => JSON.parse(requestText), [requestText]);
  const question = useMemo((): FlameQuestion => JSON.parse(questionText), [questionText]);
  const isMeasured = widthPx > 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another snapshot is asked anew
  useEffect(() => {
    if (!isMeasured) return;
    const controller = new AbortController();
    session.flame(request, { signal: controller.signal }).then(
      (answer) => setState({ kind: 'ready', answer, request, question }),
      (error: unknown) => {
        if (controller.signal.aborted) return;
        const message = errorText(error);
        setState({ kind: 'failed', message });
      },
    );
    return () => controller.abort();
  }, [session, request, question, isMeasured, info]);
  return { state, isBusy: state.kind === 'ready' && state.request !== request };
}

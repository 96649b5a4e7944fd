/** Saves files made by the page to the user's downloads. */
import { useEffect, useRef, useState } from 'react';
import { errorText } from '../../base/errors.ts';
import { formatBytes } from '../../base/format.ts';
import { downloadText } from './browser.ts';
import { useServices } from './services.ts';

/** `done` is in units that the file's maker chooses. */
export type SavingState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'working'; readonly done: number }
  | { readonly kind: 'done'; readonly name: string; readonly bytes: number }
  | { readonly kind: 'failed'; readonly reason: string };

/** Makes a file's text, whole or in parts. May report progress. */
type MakeFile = (
  signal: AbortSignal,
  onProgress: (done: number) => void,
) => Promise<string | readonly Blob[]>;

/** Makes one file at a time; unmounting cancels it. */
export function useSaving() {
  const { idle } = useServices();
  const [state, setState] = useState<SavingState>({ kind: 'idle' });
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  async function save(name: string, mime: string, make: MakeFile): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    const onProgress = (done: number) => setState({ kind: 'working', done });
    onProgress(0);
    try {
      const made = await idle.during(() => make(signal, onProgress));
      const bytes = downloadText(name, mime, made);
      setState({ kind: 'done', name, bytes });
    } catch (error) {
      setState(signal.aborted ? { kind: 'idle' } : { kind: 'failed', reason: errorText(error) });
    }
  }
  return { state, save, cancel: () => running.current?.abort() };
}

interface SavingOutcomeProps {
  readonly state: SavingState;
  readonly working: (done: number) => string;
}

export function SavingOutcome({ state, working }: SavingOutcomeProps) {
  return (
    <p className="dim" role={state.kind === 'failed' ? 'alert' : 'status'}>
      {state.kind === 'working' && working(state.done)}
      {state.kind === 'done' &&
        `${state.name}, ${formatBytes(state.bytes)}, saved to your downloads.`}
      {state.kind === 'failed' && `Could not write the file: ${state.reason}`}
    </p>
  );
}

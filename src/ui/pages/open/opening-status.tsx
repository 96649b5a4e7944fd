import { FolderOpen, TriangleAlert, X } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { formatCount } from '../../../base/format.ts';
import type { SessionState } from '../../../state/stores.ts';
import type { OpenProgress } from '../../../worker/protocol.ts';
import { Button, IconButton } from '../../shared/buttons.tsx';
import { FilePicker } from './file-picker.tsx';

interface OpeningStatusProps {
  readonly state: SessionState;
  /** Cancels the opening, or dismisses its failure. */
  readonly onLeave: () => void;
  /** Opens a broken file up to its damage. */
  readonly onPartial: () => void;
  /** More to do about a failure. */
  readonly children?: ReactNode;
}

export function OpeningStatus(props: OpeningStatusProps) {
  const { state, onLeave } = props;
  if (state.phase === 'loading')
    return <LoadingCard key={state.name} {...state} onCancel={onLeave} />;
  return state.phase === 'failed' ? <ErrorCard {...props} state={state} /> : undefined;
}

type Phase<Name extends SessionState['phase']> = Extract<SessionState, { phase: Name }>;

/** Says what failed, at which byte, and what to do. */
function ErrorCard(props: OpeningStatusProps & { readonly state: Phase<'failed'> }) {
  const { state, onLeave, onPartial, children } = props;
  const { name, failure, previous, partial } = state;
  const { message, advice, byte, partialEvents } = failure;
  return (
    <section className="card column error-card" data-testid="error" role="alert">
      <IconButton icon={X} className="icon-button card-close" label="Dismiss" onClick={onLeave} />
      <h2 className="card-title">
        <TriangleAlert size={16} aria-hidden />
        <span>
          {name} could not be {partial === undefined ? 'opened' : 'read to its end'}
        </span>
      </h2>
      <p>{message}</p>
      {byte !== undefined && <p className="dim">The problem is at byte {formatCount(byte)}.</p>}
      {advice !== '' && <p>{advice}</p>}
      {previous !== undefined && <p className="dim">{previous.file.name} is still open.</p>}
      <div className="button-row">
        {partialEvents !== undefined && (
          <Button isPrimary onClick={onPartial}>
            Open the {formatCount(partialEvents)} complete events before the error
          </Button>
        )}
        <FilePicker icon={FolderOpen}>Choose another file…</FilePicker>
        {children}
      </div>
    </section>
  );
}

const PHASES: Readonly<Record<OpenProgress['phase'], string>> = {
  reading: 'Reading the file',
  replaying: 'Replaying the allocator',
  indexing: 'Preparing the timeline',
};

/** Cancel has the focus, so Enter cancels. */
function LoadingCard(props: Phase<'loading'> & { readonly onCancel: () => void }) {
  const { name, progress, onCancel } = props;
  const cancel = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // Focus lays out the page, which the next frame does anyway.
    const frame = requestAnimationFrame(() => cancel.current?.focus({ preventScroll: true }));
    return () => cancelAnimationFrame(frame);
  }, []);
  const start = useRef({ ms: performance.now(), readBytes: progress?.readBytes ?? 0 });
  const { readBytes = 0, totalBytes } = progress ?? {};
  // Without a length from the server, the bar is indeterminate.
  const share = totalBytes ? Math.min(1, readBytes / totalBytes) : undefined;
  const elapsedMs = Math.max(1, performance.now() - start.current.ms);
  const bytesPerSecond = (1000 * (readBytes - start.current.readBytes)) / elapsedMs;
  const whole = totalBytes === undefined ? '' : ` of ${megabytes(totalBytes)}`;
  return (
    <section
      className="card column loading-card"
      data-testid="progress"
      aria-label={`Opening ${name}`}
    >
      <h2 className="card-title">Opening {name}</h2>
      <progress max={1} aria-label="Progress" {...(share !== undefined && { value: share })} />
      <p className="row dim loading-facts">
        <span>{progress === undefined ? 'Waiting for data' : PHASES[progress.phase]}</span>
        {progress !== undefined && (
          <span>
            {megabytes(readBytes)}
            {whole} MB
          </span>
        )}
        {share !== undefined && <span>{Math.floor(share * 100)} %</span>}
        {progress?.phase === 'reading' && <span>{megabytes(bytesPerSecond)} MB/s</span>}
        {progress !== undefined && <span>{formatCount(progress.events)} events</span>}
      </p>
      <Button ref={cancel} data-testid="cancel" onClick={onCancel}>
        Cancel
      </Button>
    </section>
  );
}

/** Decimal, as in file managers; GPU memory is in MiB. */
function megabytes(bytes: number): string {
  const value = bytes / 1e6;
  return value < 100 ? value.toFixed(1) : formatCount(Math.round(value));
}

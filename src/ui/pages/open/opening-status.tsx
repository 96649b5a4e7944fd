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
  useEffect(() => cancel.current?.focus({ preventScroll: true }), []);
  const start = useRef({ ms: performance.now(), readBytes: progress?.readBytes ?? 0 });
  const share = shareOf(progress);
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
        {progress !== undefined && <span>{bytesText(progress)}</span>}
        {share !== undefined && <span>{Math.floor(share * 100)} %</span>}
        {progress?.phase === 'reading' && (
          <span>
            {speedText(
              progress.readBytes - start.current.readBytes,
              performance.now() - start.current.ms,
            )}
          </span>
        )}
        {progress !== undefined && <span>{formatCount(progress.events)} events</span>}
      </p>
      <Button ref={cancel} data-testid="cancel" onClick={onCancel}>
        Cancel
      </Button>
    </section>
  );
}

/** Undefined if the server does not send the file's length: the bar is then indeterminate. */
function shareOf(progress: OpenProgress | undefined): number | undefined {
  if (progress?.totalBytes === undefined || progress.totalBytes === 0) return undefined;
  return Math.min(1, progress.readBytes / progress.totalBytes);
}

function bytesText({ readBytes, totalBytes }: OpenProgress): string {
  const read = megabytes(readBytes);
  return totalBytes === undefined ? `${read} MB` : `${read} of ${megabytes(totalBytes)} MB`;
}

function speedText(readBytes: number, elapsedMs: number): string {
  return `${megabytes((readBytes / Math.max(1, elapsedMs)) * 1000)} MB/s`;
}

/** Decimal, as in file managers; GPU memory is in MiB. */
function megabytes(bytes: number): string {
  const value = bytes / 1e6;
  return value < 100 ? value.toFixed(1) : formatCount(Math.round(value));
}

import { useEffect, useRef } from 'react';
import { formatCount } from '../../core/base/format.ts';
import type { OpenProgress } from '../../engine/protocol.ts';
import { useServices } from '../shared/services.ts';

interface LoadingCardProps {
  readonly name: string;
  readonly progress: OpenProgress | undefined;
}

const PHASES: Readonly<Record<OpenProgress['phase'], string>> = {
  reading: 'Reading the file',
  replaying: 'Replaying the allocator',
  indexing: 'Preparing the timeline',
};

/** Progress of an opening. Cancel has the focus, so that Esc and Enter are at hand. */
export function LoadingCard({ name, progress }: LoadingCardProps) {
  const { loader } = useServices();
  const startedMs = useRef(performance.now());
  const share = shareOf(progress);
  return (
    <section className="card loading-card" data-testid="progress" aria-label={`Opening ${name}`}>
      <h2 className="card-title">Opening {name}</h2>
      <progress max={1} aria-label="Progress" {...(share !== undefined && { value: share })} />
      <p className="loading-facts">
        <span>
          {progress === undefined ? 'Waiting for the first bytes' : PHASES[progress.phase]}
        </span>
        {progress !== undefined && <span>{bytesText(progress)}</span>}
        {progress?.phase === 'reading' && (
          <span>{speedText(progress.readBytes, performance.now() - startedMs.current)}</span>
        )}
        {progress !== undefined && <span>{formatCount(progress.events)} events</span>}
      </p>
      <CancelButton onCancel={loader.cancel} />
    </section>
  );
}

function CancelButton({ onCancel }: { readonly onCancel: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus({ preventScroll: true }), []);
  return (
    <button ref={button} type="button" className="button" data-testid="cancel" onClick={onCancel}>
      Cancel
    </button>
  );
}

/** Undefined, a bar that only moves, where the server does not say how long the file is. */
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

/** Files are said in decimal megabytes, as file managers do; GPU memory in MiB. */
function megabytes(bytes: number): string {
  const value = bytes / 1e6;
  return value < 100 ? value.toFixed(1) : formatCount(Math.round(value));
}

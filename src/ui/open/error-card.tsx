import { FolderOpen, TriangleAlert, X } from 'lucide-react';
import { formatCount } from '../../core/base/format.ts';
import type { LoadFailure } from '../../core/base/load-error.ts';
import { useStores } from '../../state/stores.ts';
import { useServices } from '../shared/services.ts';
import { FilePicker } from './file-picker.tsx';

interface ErrorCardProps {
  readonly name: string;
  readonly failure: LoadFailure;
  /** Name of the snapshot that is still open. */
  readonly stillOpen: string | undefined;
}

/** One clear message: what it is, at which byte, what to do. */
export function ErrorCard({ name, failure, stillOpen }: ErrorCardProps) {
  const { loader } = useServices();
  const { session } = useStores();
  const { message, advice, byte, partialEvents } = failure;
  return (
    <section className="card error-card" data-testid="error" role="alert">
      <button
        type="button"
        className="icon-button card-close"
        aria-label="Dismiss"
        onClick={session.dismissFailure}
      >
        <X size={16} aria-hidden />
      </button>
      <h2 className="card-title">
        <TriangleAlert size={16} aria-hidden />
        <span>{name} could not be opened</span>
      </h2>
      <p>{message}</p>
      {byte !== undefined && <p className="dim">Noticed at byte {formatCount(byte)}.</p>}
      {advice !== '' && <p>{advice}</p>}
      {stillOpen !== undefined && <p className="dim">{stillOpen} is still open.</p>}
      <div className="card-actions">
        {partialEvents !== undefined && (
          <button
            type="button"
            className="button button-primary"
            onClick={() => void loader.openPartially()}
          >
            Open the {formatCount(partialEvents)} whole events before the fault
          </button>
        )}
        <FilePicker className="button">
          <FolderOpen size={15} aria-hidden />
          Choose another file…
        </FilePicker>
      </div>
    </section>
  );
}

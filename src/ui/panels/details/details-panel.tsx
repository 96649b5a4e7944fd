import './details.css';
import { MousePointerClick, X } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ClassifiedDetails } from '../../../device/classes/types.ts';
import { useStores } from '../../../state/stores.ts';
import { CopyButton, IconButton } from '../../shared/buttons.tsx';
import { type Selection, useSelection } from '../../shared/selection.tsx';
import { FreeStack, StackList } from '../../shared/stack-list.tsx';
import { AllocationFacts, SiteSummary } from './allocation-facts.tsx';

export function DetailsPanel() {
  return (
    <aside className="details" data-testid="details" aria-label="Details">
      {content(useSelection())}
    </aside>
  );
}

function content(selection: Selection): ReactNode {
  switch (selection.kind) {
    case 'none':
      return (
        <div className="details-empty">
          <MousePointerClick size={20} aria-hidden />
          <p>Click a block in the timeline to see what it is and which line of code made it.</p>
        </div>
      );
    case 'missing':
      return (
        <div className="details-empty">
          <p>
            <code>{selection.label}</code> is not an allocation of this snapshot on this device.
          </p>
        </div>
      );
    case 'found':
      return <Found details={selection.details} />;
  }
}

function Found({ details }: { readonly details: ClassifiedDetails }) {
  const { view } = useStores();
  return (
    <>
      <div className="spread">
        <CopyButton text={details.label} label="label" className="details-label quiet">
          {details.label}
        </CopyButton>
        <IconButton
          icon={X}
          label="Unpin"
          title="Unpin (Esc)"
          onClick={() => view.commit({ selection: undefined })}
        />
      </div>
      <AllocationFacts details={details} />
      <section aria-label="Allocated by">
        <h2 className="details-heading">Allocated by</h2>
        <StackList key={details.label} stack={details.allocStack} testId="stack" />
      </section>
      {details.forwardFrames !== undefined && details.forwardFrames.length > 0 && (
        <section aria-label="Forward pass">
          <h2 className="details-heading">Forward pass</h2>
          <ol className="forward-frames">
            {details.forwardFrames.map((line) => (
              <li key={line} className="mono">
                {line}
              </li>
            ))}
          </ol>
        </section>
      )}
      <FreeStack key={`free ${details.label}`} details={details} />
      <SiteSummary details={details} />
    </>
  );
}

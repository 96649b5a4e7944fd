import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { FlameGraph, FlameSet } from '../../core/query/flame/types.ts';
import type { DeviceInfo } from '../../core/query/types.ts';
import type { FlameAnswer } from '../../engine/answers/flame.ts';
import { useView } from '../../state/stores.ts';
import type { FlameFigures } from './box-tooltip.ts';
import { countText, setText, shareText } from './flame-words.ts';

interface FlameSummaryProps {
  readonly device: DeviceInfo;
  readonly answer: FlameAnswer;
  readonly graph: FlameGraph;
  readonly set: FlameSet;
  readonly figures: FlameFigures;
  /** Behind the figures. */
  readonly children: ReactNode;
}

/** What is added up, how much it comes to, and what the picture cannot say. */
export function FlameSummary({ device, answer, graph, set, figures, children }: FlameSummaryProps) {
  const of = useView((view) => view.flame.of);
  const hasCursor = useView((view) => view.cursor !== undefined);
  const hasTrace = device.events > 0;
  const onlyMatches = useView((view) => view.onlyMatches && view.search !== '');
  const { format, isDifference, hasSearch } = figures;
  const { value, magnitude, count, matched } = graph.total;
  return (
    <div className="flame-summary">
      <p role="status">
        {setText(set, of, { hasCursor, hasTrace })}:{' '}
        <strong title={format.exact(value)}>{format.short(value)}</strong>
        {', '}
        {countText(count, isDifference)}
        {onlyMatches && ' that match the search'}
        {hasSearch && !onlyMatches && (
          <>
            ; <strong>{shareText(matched, magnitude)}</strong> of it matches the search
          </>
        )}
      </p>
      {isDifference && (
        <p className="flame-key">
          <span className="flame-swatch" data-change="grew" /> grew
          <span className="flame-swatch" data-change="shrank" /> shrank; as wide as both together
        </p>
      )}
      {children}
      {!answer.hasStacks && (
        <Note>
          This file holds no call stacks. Record them with{' '}
          <code>torch.cuda.memory._record_memory_history(stacks=&quot;all&quot;)</code> and take the
          snapshot again.
        </Note>
      )}
      {!graph.isRootFound && (
        <Note>
          The frame that was zoomed into holds nothing here; shown is as much of its stack as does.
        </Note>
      )}
    </div>
  );
}

function Note({ children }: { readonly children: ReactNode }) {
  return (
    <p className="flame-note">
      <TriangleAlert size={13} aria-hidden />
      <span>{children}</span>
    </p>
  );
}

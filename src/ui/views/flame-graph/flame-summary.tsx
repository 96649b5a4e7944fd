import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { ColorKey } from '../../plot/plot-controls.tsx';
import { useDevice } from '../../shared/services.ts';
import { useTheme } from '../../theme/use-theme.ts';
import { type BoxColor, flameColors } from './flame-colors.ts';
import { countText, type FlameFigures, setText, shareText } from './flame-labels.ts';
import type { FlameReady } from './use-flame.ts';

interface FlameSummaryProps {
  readonly asked: FlameReady;
  readonly figures: FlameFigures;
}

/** What is added up, how much it comes to, and what the picture cannot say. */
export function FlameSummary({ asked, figures }: FlameSummaryProps) {
  const { device } = useDevice();
  const { set, graph, hasStacks } = asked.answer;
  if (set === undefined || graph === undefined) return undefined;
  const { dataset, cursor, onlyMatches } = asked.request;
  const context = { hasCursor: cursor !== undefined, hasTrace: device.events > 0 };
  const { format, isDifference, hasSearch } = figures;
  const { value, magnitude, count, matched } = graph.total;
  return (
    <div className="row flame-summary">
      <p role="status">
        {setText(set, dataset, context)}:{' '}
        <strong title={format.exact(value)}>{format.short(value)}</strong>
        {', '}
        {countText(count, isDifference)}
        {hasSearch && onlyMatches && ' that match the search'}
        {hasSearch && !onlyMatches && (
          <>
            ; <strong>{shareText(matched, magnitude)}</strong> of it matches the search
          </>
        )}
      </p>
      <FlameKey isDifference={isDifference} />
      {!hasStacks && (
        <Note>
          This file has no call stacks. Record them with{' '}
          <code>torch.cuda.memory._record_memory_history(stacks=&quot;all&quot;)</code> and take the
          snapshot again.
        </Note>
      )}
      {!graph.isRootFound && (
        <Note>
          The frame you zoomed into holds nothing here. Showing the nearest caller that does.
        </Note>
      )}
    </div>
  );
}

/** What the colors mean. */
function FlameKey({ isDifference }: { readonly isDifference: boolean }) {
  const { grew, shrank, own, library, absent } = flameColors(useTheme());
  const meanings: readonly (readonly [BoxColor | undefined, string])[] = isDifference
    ? [
        [grew.at(-1), 'grew'],
        [shrank.at(-1), 'shrank; width is growth plus shrinkage'],
      ]
    : [
        [own[0], 'your code'],
        [library[0], 'libraries'],
        [absent, 'no frame'],
      ];
  const entries = meanings.map(([color, label]) => ({ label, color: color?.fill ?? '' }));
  return <ColorKey label="Colors" entries={entries} />;
}

function Note({ children }: { readonly children: ReactNode }) {
  return (
    <p className="callout flame-note" data-tone="warning">
      <TriangleAlert size={13} aria-hidden />
      <span>{children}</span>
    </p>
  );
}

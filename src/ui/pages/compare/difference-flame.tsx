import '../../views/flame-graph/flame.css';
import { useMemo, useRef, useState } from 'react';
import { signedBytes } from '../../../analysis/compare/change-text.ts';
import { formatExactBytes } from '../../../base/format.ts';
import type { FlameGrouping } from '../../../device/flame-graph/types.ts';
import { useElementWidth } from '../../shared/browser.ts';
import { Select } from '../../shared/buttons.tsx';
import { useQuery } from '../../shared/use-query.ts';
import { useTheme } from '../../theme/use-theme.ts';
import { FlameCanvas } from '../../views/flame-graph/flame-canvas.tsx';
import { GROUPING_TEXT, weightFormat } from '../../views/flame-graph/flame-labels.ts';
import { type BoxIndex, FlameLayout } from '../../views/flame-graph/flame-layout.ts';
import { FlameTrail } from '../../views/flame-graph/flame-toolbar.tsx';
import { flameColors } from '../../views/flame-graph/paint-flame.ts';
import type { ComparedPair } from './sides.tsx';

type Grouping = Exclude<FlameGrouping, 'stack'>;
const GROUPINGS: readonly Grouping[] = ['line', 'function', 'file', 'module'];

/** What grew and what shrank, by call stack. The width of a box is the size of its change. */
export function DifferenceFlameView({ pair }: Pick<ComparedPair, 'pair'>) {
  const area = useRef<HTMLElement>(null);
  const width = useElementWidth(area);
  const [groupBy, setGroupBy] = useState<Grouping>('line');
  const [root, setRoot] = useState<string>();
  const request = width === 0 ? undefined : { pair, groupBy, root, smallestShare: 1 / width };
  const { value: graph } = useQuery('differenceFlame', request, { cancelsStale: true });
  const layout = useMemo(() => graph && new FlameLayout(graph), [graph]);
  const theme = useTheme();
  const [selected, setSelected] = useState<BoxIndex>();
  const figures = useMemo(
    () => ({ format: weightFormat('allocated', true, true), isDifference: true, hasSearch: false }),
    [],
  );
  const scene = useMemo(
    () => ({ colors: flameColors(theme), figures, selected, chosenKey: undefined }),
    [theme, figures, selected],
  );
  const zoom = (path: string | undefined) => {
    setSelected(undefined);
    setRoot(path);
  };
  return (
    <section ref={area} className="view compare-flame" aria-label="Difference flame graph">
      <div className="row bar compare-filters">
        <label className="inline-row labelled">
          Boxes
          <Select
            value={groupBy}
            options={GROUPINGS.map((value) => ({ value, label: GROUPING_TEXT[value] }))}
            onChoose={(chosen) => {
              zoom(undefined);
              setGroupBy(chosen);
            }}
          />
        </label>
        {graph !== undefined && (
          <span className="dim" title={formatExactBytes(graph.total.value)}>
            {signedBytes(graph.total.value)} without rounding. Wide is what changed; the color says
            which way.
          </span>
        )}
      </div>
      {graph !== undefined && <FlameTrail trail={graph.trail} onZoom={zoom} />}
      {layout !== undefined && graph !== undefined && graph.total.magnitude > 0 && (
        <FlameCanvas
          layout={layout}
          scene={scene}
          isBusy={false}
          onSelect={setSelected}
          onZoom={(box) => zoom(layout.zoomPathOf(box))}
          onBack={() => zoom(graph.trail.at(-2)?.path)}
        />
      )}
      {graph?.total.magnitude === 0 && <p className="compare-empty">Nothing differs.</p>}
    </section>
  );
}

import './flame.css';
import { useCallback, useMemo, useRef } from 'react';
import { Group, Panel, Separator } from 'react-resizable-panels';
import { useStores, useView } from '../../../state/stores.ts';
import type { FlameView as FlameChoices } from '../../../state/view-store.ts';
import { useElementWidth } from '../../shared/browser.ts';
import { Blank } from '../../shared/facts.tsx';
import { useDevice } from '../../shared/services.ts';
import { FlameCanvas } from './flame-canvas.tsx';
import { type FlameFigures, weightFormat } from './flame-labels.ts';
import { type FlameBox, FlameLayout } from './flame-layout.ts';
import { FlameEmpty, FlameSummary } from './flame-summary.tsx';
import { FlameTable, FrameStrip } from './flame-table.tsx';
import { FlameDownloads, FlameToolbar, FlameTrail } from './flame-toolbar.tsx';
import { type FlameReady, selectedBox, selectionOf, useChosen, useFlame } from './use-flame.ts';

/** Who holds the memory: call stacks as boxes, and the same as a table. */
export function View() {
  const { view } = useStores();
  const area = useRef<HTMLElement>(null);
  const { ready, failure } = useFlame(useElementWidth(area));
  const flame = useView((current) => current.flame);
  const change = useCallback(
    (changed: Partial<FlameChoices>) =>
      view.commit({ flame: { ...view.getState().view.flame, ...changed } }),
    [view],
  );
  const hasBoxes = (ready?.answer.graph?.total.magnitude ?? 0) > 0;
  return (
    <section ref={area} className="view flame-view" aria-label="Flame graph">
      <FlameToolbar flame={flame} onChange={change} />
      {failure !== undefined && (
        <Blank isAlert title="The flame graph could not be made" text={failure} />
      )}
      {ready !== undefined && !hasBoxes && <FlameEmpty asked={ready} />}
      {ready !== undefined && hasBoxes && <FlameContent asked={ready} onChange={change} />}
    </section>
  );
}

interface FlameContentProps {
  readonly asked: FlameReady;
  readonly onChange: (change: Partial<FlameChoices>) => void;
}

function FlameContent({ asked, onChange }: FlameContentProps) {
  const { answer, request, query, isBusy } = asked;
  const { graph, set } = answer;
  const [chosen, choose] = useChosen(query);
  const layout = useMemo(() => (graph === undefined ? undefined : new FlameLayout(graph)), [graph]);
  const figures = useFigures(asked);
  const selected = layout && selectedBox(chosen, layout, request.inverted);
  const chosenRow = chosen?.kind === 'row' ? chosen.row.key : undefined;
  if (layout === undefined || graph === undefined || set === undefined) return undefined;
  const zoom = (root: string | undefined) => onChange({ root });
  const select = (box: FlameBox) => {
    const path = layout.pathOf(box);
    choose(path === undefined ? undefined : { kind: 'box', path });
  };
  return (
    <>
      <FlameSummary asked={asked} figures={figures} />
      <div className="spread flame-trail-row">
        <FlameTrail trail={graph.trail} onZoom={zoom} />
        <FlameDownloads query={query} />
      </div>
      <Group className="fill" orientation="vertical">
        <Panel minSize="80px" defaultSize="52%">
          <FlameCanvas
            layout={layout}
            figures={figures}
            selected={selected}
            chosenKey={chosenRow}
            isBusy={isBusy}
            onSelect={select}
            onZoom={zoom}
          />
        </Panel>
        <Separator className="split-handle split-handle-flat" aria-label="Height of the table" />
        <Panel minSize="120px" className="flame-lower">
          <FrameStrip
            selection={chosen && selectionOf(chosen, layout, request)}
            figures={figures}
          />
          <FlameTable
            query={query}
            rowCount={answer.rowCount}
            figures={figures}
            chosenKey={chosenRow}
            onChoose={(row) => choose({ kind: 'row', row, query })}
          />
        </Panel>
      </Group>
    </>
  );
}

function useFigures({ answer, request }: FlameReady): FlameFigures {
  const { device } = useDevice();
  const { weight } = request;
  const isDifference = answer.set?.kind === 'difference';
  const { isSearched: hasSearch, graph } = answer;
  const totalMagnitude = graph?.total.magnitude ?? 0;
  return useMemo(() => {
    const format = weightFormat(weight, device.hasTime, isDifference);
    return { format, isDifference, hasSearch, totalMagnitude };
  }, [weight, device.hasTime, isDifference, hasSearch, totalMagnitude]);
}

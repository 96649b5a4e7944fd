import './flame.css';
import { useCallback, useMemo, useRef, useState } from 'react';
import { Group, Panel, Separator } from 'react-resizable-panels';
import type { FlameRow } from '../../../device/flame-graph/flame-table.ts';
import { useStores, useView } from '../../../state/stores.ts';
import type { FlameView as FlameChoices } from '../../../state/view-store.ts';
import { useElementWidth } from '../../shared/browser.ts';
import { Blank } from '../../shared/facts.tsx';
import { useDevice } from '../../shared/services.ts';
import { FlameCanvas } from './flame-canvas.tsx';
import { type FlameFigures, weightFormat } from './flame-labels.ts';
import { type FlameBox, FlameLayout } from './flame-layout.ts';
import { FlameSandwich, SandwichTitle, useSandwich } from './flame-sandwich.tsx';
import { FlameEmpty, FlameSummary } from './flame-summary.tsx';
import { FlameTable, FrameStrip } from './flame-table.tsx';
import { FlameDownloads, FlameToolbar, FlameTrail } from './flame-toolbar.tsx';
import { type OpenMenu, TransformList, useFlameMenu } from './flame-transforms.tsx';
import {
  type FlameReady,
  type FlameSelection,
  rowSelection,
  selectedBox,
  selectionOf,
  useChosen,
  useFlame,
} from './use-flame.ts';

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
  const isOfStacks = flame.groupBy !== 'holder';
  return (
    <section ref={area} className="view flame-view" aria-label="Flame graph">
      <FlameToolbar flame={flame} onChange={change} />
      {failure !== undefined && (
        <Blank isAlert title="The flame graph could not be made" text={failure} />
      )}
      {ready !== undefined && (
        <TransformList flame={flame} steps={ready.answer.steps} onChange={change} />
      )}
      {ready !== undefined && !hasBoxes && <FlameEmpty asked={ready} />}
      {ready !== undefined &&
        hasBoxes &&
        (flame.sandwich !== undefined && isOfStacks ? (
          <SandwichContent asked={ready} flame={flame} target={flame.sandwich} onChange={change} />
        ) : (
          <FlameContent asked={ready} flame={flame} onChange={change} />
        ))}
    </section>
  );
}

interface FlameContentProps {
  readonly asked: FlameReady;
  readonly flame: FlameChoices;
  readonly onChange: (change: Partial<FlameChoices>) => void;
}

function FlameContent({ asked, flame, onChange }: FlameContentProps) {
  const { answer, request, query, isBusy } = asked;
  const { graph, set } = answer;
  const [chosen, choose] = useChosen(query);
  const layout = useMemo(() => (graph === undefined ? undefined : new FlameLayout(graph)), [graph]);
  const figures = useFigures(asked);
  const menu = useFlameMenu(flame, onChange);
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
            onMenu={(box, place) =>
              box.data.group &&
              menu.open({ group: box.data.group, path: layout.pathOf(box) }, place)
            }
          />
        </Panel>
        <LowerPanel
          asked={asked}
          figures={figures}
          selection={chosen && selectionOf(chosen, layout, request)}
          chosenRow={chosenRow}
          onMenu={menu.open}
          onChoose={(row) => choose({ kind: 'row', row, query })}
        />
      </Group>
      {menu.element}
    </>
  );
}

/** The callers and callees of one function, instead of the graph. */
function SandwichContent(props: FlameContentProps & { readonly target: string }) {
  const { asked, flame, target, onChange } = props;
  const { query, request } = asked;
  const sandwich = useSandwich(request, target);
  const figures = useFigures(asked);
  const menu = useFlameMenu(flame, onChange);
  const [chosen, choose] = useChosen(query);
  /** A box of either half; it goes with the answer that it is from. */
  const [picked, pick] = useState<{ layout: FlameLayout; selection: FlameSelection | undefined }>();
  const { callers, callees } = sandwich;
  const isShown = picked?.layout === callers.layout || picked?.layout === callees.layout;
  const row = chosen?.kind === 'row' ? chosen.row : undefined;
  return (
    <>
      <FlameSummary asked={asked} figures={figures} />
      <div className="spread flame-trail-row">
        <SandwichTitle sandwich={sandwich} figures={figures} />
        <FlameDownloads query={query} />
      </div>
      <Group className="fill" orientation="vertical">
        <FlameSandwich
          sandwich={sandwich}
          figures={figures}
          chosenKey={row?.key}
          onMenu={menu.open}
          onSelect={(box, layout, inverted) => {
            const path = layout.pathOf(box);
            choose(undefined);
            pick(
              path === undefined
                ? undefined
                : { layout, selection: selectionOf({ kind: 'box', path }, layout, { inverted }) },
            );
          }}
        />
        <LowerPanel
          asked={asked}
          figures={figures}
          selection={
            row === undefined ? (isShown ? picked?.selection : undefined) : rowSelection(row)
          }
          chosenRow={row?.key}
          onMenu={(subject, place) => menu.open({ ...subject, path: undefined }, place)}
          onChoose={(own) => choose({ kind: 'row', row: own, query })}
        />
      </Group>
      {menu.element}
    </>
  );
}

interface LowerPanelProps {
  readonly asked: FlameReady;
  readonly figures: FlameFigures;
  readonly selection: FlameSelection | undefined;
  readonly chosenRow: string | undefined;
  readonly onChoose: (row: FlameRow) => void;
  readonly onMenu: OpenMenu;
}

function LowerPanel(props: LowerPanelProps) {
  const { asked, figures, selection, chosenRow, onChoose, onMenu } = props;
  return (
    <>
      <Separator className="split-handle split-handle-flat" aria-label="Height of the table" />
      <Panel minSize="120px" className="flame-lower">
        <FrameStrip selection={selection} figures={figures} onMenu={onMenu} />
        <FlameTable
          query={asked.query}
          rowCount={asked.answer.rowCount}
          figures={figures}
          chosenKey={chosenRow}
          onChoose={onChoose}
          onMenu={onMenu}
        />
      </Panel>
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

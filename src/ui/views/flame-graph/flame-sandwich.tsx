import { useMemo, useState } from 'react';
import { Panel, Separator } from 'react-resizable-panels';
import {
  parseTransform,
  transformText,
  withTransform,
} from '../../../device/flame-graph/transform-text.ts';
import { Blank } from '../../shared/facts.tsx';
import type { MenuPlace } from '../../shared/menu.tsx';
import { useQuery } from '../../shared/use-query.ts';
import { FlameCanvas } from './flame-canvas.tsx';
import { countText, type FlameFigures, groupLabel, shareText } from './flame-labels.ts';
import { type FlameBox, FlameLayout } from './flame-layout.ts';
import type { MenuSubject } from './flame-transforms.tsx';
import type { FlameBoxesQuery } from './use-flame.ts';

type HalfKind = 'callers' | 'focus';

/** The part of each stack above or below the function's outermost frame. */
function useHalf(kind: HalfKind, asked: FlameBoxesQuery, target: string) {
  const transform = transformText(kind, target);
  const { key } = parseTransform(transform);
  const { value, isCurrent } = useQuery(
    'flame',
    {
      ...asked,
      transforms: withTransform(asked.transforms ?? '', transform),
      inverted: kind === 'callers',
      // If the function is one box, it is the outermost one, and need not be there twice. Otherwise there is no such box.
      root: key,
    },
    { cancelsStale: true },
  );
  const of = value?.steps.at(-1)?.of;
  const graph = value?.graph;
  const layout = useMemo(() => graph && new FlameLayout(graph, of), [graph, of]);
  return { layout, of, total: graph?.total, isBusy: !isCurrent };
}

export type Sandwich = ReturnType<typeof useSandwich>;

/** @param target what a link says, in the format of transform-text.ts */
export function useSandwich(asked: FlameBoxesQuery, target: string) {
  const callers = useHalf('callers', asked, target);
  const callees = useHalf('focus', asked, target);
  return { callers, callees, of: callees.of, total: callees.total };
}

interface FlameSandwichProps {
  readonly sandwich: Sandwich;
  readonly figures: FlameFigures;
  readonly chosenKey: string | undefined;
  readonly onSelect: (box: FlameBox, layout: FlameLayout, inverted: boolean) => void;
  readonly onMenu: (subject: MenuSubject, place: MenuPlace) => void;
}

/** The callers of a function above, its callees below; where they meet is the function itself. */
export function FlameSandwich(props: FlameSandwichProps) {
  const { sandwich, figures, chosenKey, onSelect, onMenu } = props;
  const [selected, select] = useState<FlameBox>();
  const half = (name: 'callers' | 'callees') => {
    const { layout, isBusy } = sandwich[name];
    if (layout === undefined) return undefined;
    const inverted = name === 'callers';
    return (
      <FlameCanvas
        label={inverted ? 'Callers' : 'Callees'}
        isUp={inverted}
        layout={layout}
        figures={figures}
        selected={selected?.ancestors().at(-1) === layout.root ? selected : undefined}
        chosenKey={chosenKey}
        isBusy={isBusy}
        onSelect={(box) => {
          select(box);
          onSelect(box, layout, inverted);
        }}
        onMenu={({ data: { group } }, place) => group && onMenu({ group, path: undefined }, place)}
      />
    );
  };
  if (sandwich.total?.magnitude === 0) {
    return (
      <Panel minSize="80px" defaultSize="52%">
        <Blank
          title="Nothing has this function in its stack"
          text="No allocation that is shown here does, or its frames are hidden. Close it to see the whole graph."
        />
      </Panel>
    );
  }
  return (
    <>
      <Panel minSize="60px" defaultSize="26%">
        {half('callers')}
      </Panel>
      <Separator className="split-handle split-handle-flat" aria-label="Height of the callers" />
      <Panel minSize="60px" defaultSize="26%">
        {half('callees')}
      </Panel>
    </>
  );
}

/** What the sandwich is about, with its bytes; both halves have them. */
export function SandwichTitle({
  sandwich,
  figures,
}: Pick<FlameSandwichProps, 'sandwich' | 'figures'>) {
  const { of, total } = sandwich;
  const { format, isDifference, totalMagnitude } = figures;
  return (
    <p className="flame-trail" role="status" aria-label="Callers and callees">
      {of !== undefined && total !== undefined && (
        <span className="one-line">
          <strong>{groupLabel(of)}</strong>:{' '}
          <strong title={format.exact(total.value)}>{format.short(total.value)}</strong>,{' '}
          {shareText(total.magnitude, totalMagnitude)} of all,{' '}
          {countText(total.count, isDifference)}; callers above, callees below
        </span>
      )}
    </p>
  );
}

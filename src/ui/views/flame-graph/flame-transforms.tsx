/** The transforms of stacks: the menu that adds one, and the list above the graph that removes them. */
import {
  ArrowUpToLine,
  ChevronRight,
  CornerLeftUp,
  Crosshair,
  FilterX,
  Focus,
  Merge,
  Package,
  Repeat,
  Rows2,
  X,
} from 'lucide-react';
import { useState } from 'react';
import type { TransformStep } from '../../../device/flame-graph/folded-tree.ts';
import {
  levelOf,
  parseTransform,
  type TransformKind,
  targetText,
  transformsIn,
  transformText,
  withTransform,
} from '../../../device/flame-graph/transform-text.ts';
import type { FlameGroup } from '../../../device/flame-graph/types.ts';
import type { FlameView } from '../../../state/view-store.ts';
import { IconButton } from '../../shared/buttons.tsx';
import { Menu, type MenuItem, type MenuPlace } from '../../shared/menu.tsx';
import { groupLabel } from './flame-labels.ts';

/** A box or a row that a menu is about. */
export interface MenuSubject {
  readonly group: FlameGroup;
  /** The box's path in the graph; undefined for rows, and for boxes of a sandwich. */
  readonly path: string | undefined;
}

type Change = Partial<FlameView>;

/** A transform makes other boxes, so the zoom is reset. */
export const transformed = (transforms: string): Change => ({ transforms, root: undefined });

/** What can be done with a box; nothing without frames. */
function transformItems(
  { group, path }: MenuSubject,
  { transforms, inverted, groupBy }: Pick<FlameView, 'transforms' | 'inverted' | 'groupBy'>,
  onChange: (change: Change) => void,
  canSandwich: boolean,
): readonly MenuItem[] {
  if (group.kind !== 'frame') return [];
  const [own, library] = group.targets;
  if (own === undefined) return [];
  const add = (kind: TransformKind, target: string) => () =>
    onChange({
      ...transformed(withTransform(transforms, transformText(kind, target))),
      sandwich: undefined,
    });
  const on = (target: typeof own, kind: TransformKind) => add(kind, targetText(target));
  const subtree =
    path === undefined ? undefined : targetText({ level: levelOf(groupBy), key: path });
  return [
    ...(subtree === undefined
      ? []
      : [
          {
            label: 'Focus on this box',
            about: 'Keeps only what is in this box',
            icon: Crosshair,
            reason:
              groupBy === 'class'
                ? 'A box in a class can’t be focused on: filter to the class, then show by line'
                : undefined,
            onChoose: add(inverted ? 'tail' : 'subtree', subtree),
          },
        ]),
    {
      label: `Focus on ${own.label}`,
      about: inverted
        ? 'Keeps only allocations with it in their stack; stacks end there'
        : 'Keeps only allocations with it in their stack; stacks begin there',
      icon: Focus,
      onChoose: on(own, inverted ? 'callers' : 'focus'),
    },
    ...(canSandwich
      ? [
          {
            label: `Callers and callees of ${own.label}`,
            about: 'Shows what leads to it and what it leads to, one above the other',
            icon: Rows2,
            onChoose: () => onChange({ sandwich: targetText(own) }),
          },
        ]
      : []),
    {
      label: `Merge ${own.label} into its callers`,
      about: 'Removes its frames; their bytes go to their callers',
      icon: Merge,
      onChoose: on(own, 'merge'),
    },
    ...(group.level === 'line'
      ? [
          {
            label: `Collapse recursion of ${own.label}`,
            about: 'Calls from itself to itself become one box',
            icon: Repeat,
            onChoose: on(own, 'collapse'),
          },
        ]
      : []),
    ...(library === undefined
      ? []
      : [
          {
            label: `Collapse ${library.label} into one box`,
            about: 'Frames of this library that call each other become one box',
            icon: Package,
            onChoose: on(library, 'collapse'),
          },
        ]),
    {
      label: `Drop allocations with ${own.label}`,
      about: 'Leaves out allocations that have it in their stack',
      icon: FilterX,
      onChoose: on(own, 'drop'),
    },
    ...(library === undefined
      ? []
      : [
          {
            label: `Drop allocations with ${library.label}`,
            about: 'Leaves out allocations that have this library in their stack',
            icon: FilterX,
            onChoose: on(library, 'drop'),
          },
        ]),
  ];
}

const VERBS: Readonly<Record<TransformKind, string>> = {
  focus: 'Focus on',
  callers: 'Callers of',
  subtree: 'Only the box',
  tail: 'Only the box',
  merge: 'Merge',
  collapse: 'Collapse',
  drop: 'Drop',
};

const ICONS: Readonly<Record<TransformKind, typeof Focus>> = {
  focus: Focus,
  callers: CornerLeftUp,
  subtree: Crosshair,
  tail: ArrowUpToLine,
  merge: Merge,
  collapse: Package,
  drop: FilterX,
};

const MISSING = 'The frames that this names are hidden, or not in this file';

export type OpenMenu = (subject: MenuSubject, place: MenuPlace) => void;

/** The menu of a box or a row: one for the whole view. @param canSandwich the view shows callers and callees */
export function useFlameMenu(
  flame: Pick<FlameView, 'transforms' | 'inverted' | 'groupBy'>,
  onChange: (change: Change) => void,
  canSandwich = true,
) {
  const [opened, setOpened] = useState<{ subject: MenuSubject; place: MenuPlace }>();
  const open: OpenMenu = (subject, place) => setOpened({ subject, place });
  const items =
    opened === undefined ? [] : transformItems(opened.subject, flame, onChange, canSandwich);
  const place = items.length === 0 ? undefined : opened?.place;
  const close = () => setOpened(undefined);
  const element = <Menu label="Transforms" items={items} place={place} onClose={close} />;
  return { open, element };
}

interface TransformListProps {
  readonly flame: Pick<FlameView, 'transforms' | 'sandwich' | 'groupBy'>;
  /** As answered: they name what the list was applied to. */
  readonly steps: readonly TransformStep[];
  readonly onChange: (change: Change) => void;
}

/** Clicking one returns to it; its x removes only it. */
export function TransformList({ flame, steps, onChange }: TransformListProps) {
  const { transforms, sandwich, groupBy } = flame;
  const texts = transformsIn(transforms);
  if (texts.length === 0 && sandwich === undefined) return undefined;
  const keep = (kept: readonly string[]) => onChange(transformed(kept.join(',')));
  return (
    <nav className="flame-transforms" aria-label="Transforms">
      <button
        type="button"
        className="hoverable quiet flame-step"
        onClick={() => onChange({ ...transformed(''), sandwich: undefined })}
      >
        All stacks
      </button>
      {texts.map((text, at) => {
        const { kind, level, key } = parseTransform(text);
        // The answer may still be that to another list.
        const step = steps.find(
          (one) => one.kind === kind && one.level === level && one.key === key,
        );
        const isMissing = step !== undefined && step.of === undefined;
        const of = step?.of === undefined ? '…' : groupLabel(step.of);
        const name = `${VERBS[kind]} ${isMissing ? 'a frame that is not shown' : of}`;
        const Icon = ICONS[kind];
        return (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: the same transform may be listed twice
            key={`${at} ${text}`}
            className="flame-crumb"
            data-missing={isMissing}
          >
            <ChevronRight size={12} aria-hidden />
            <Icon size={13} aria-hidden />
            <button
              type="button"
              className="one-line hoverable quiet flame-step"
              aria-current={at === texts.length - 1 && sandwich === undefined ? 'true' : undefined}
              title={isMissing ? MISSING : `Back to here: ${name}`}
              onClick={() =>
                onChange({
                  ...transformed(texts.slice(0, at + 1).join(',')),
                  sandwich: undefined,
                })
              }
            >
              {name}
            </button>
            <IconButton
              icon={X}
              label={`Undo: ${name}`}
              onClick={() => keep(texts.filter((_, other) => other !== at))}
            />
          </span>
        );
      })}
      {sandwich !== undefined && (
        <span className="flame-crumb">
          <ChevronRight size={12} aria-hidden />
          <Rows2 size={13} aria-hidden />
          <span className="one-line flame-step" aria-current="true">
            Callers and callees
          </span>
          <IconButton
            icon={X}
            label="Close callers and callees"
            onClick={() => onChange({ sandwich: undefined })}
          />
        </span>
      )}
      {texts.length > 0 && (
        <p className="dim one-line flame-transforms-note">
          {groupBy === 'holder'
            ? 'Not applied: variables have no stacks'
            : 'Only in this flame graph'}
        </p>
      )}
    </nav>
  );
}

/**
 * The colorings in which a file is first drawn, by stack and by size. The others load on demand (lazy-colorings.ts).
 */
import { formatBytes } from '../../base/format.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { absenceText } from '../../device/model/stacks.ts';
import type { StackKind } from '../../device/model/types.ts';
import { sizeTerms } from '../../device/search/qualifier.ts';
import type { ColorBy } from '../timeline/types.ts';
import {
  CLASS_BEFORE_RECORDING,
  CLASS_NO_CONTEXT,
  CLASS_NO_PYTHON_STACK,
  classesBySize,
  classesByStack,
  sizeEdge,
} from './classes.ts';

export interface ColorLabel {
  readonly label: string;
  /** One more sentence; '' if the label says everything. */
  readonly about: string;
  /** A search for these allocations; undefined if there is none. */
  readonly term: string | undefined;
}

export interface ColorClass extends ColorLabel {
  readonly class: number;
}

export interface Coloring {
  /** Class of each allocation. */
  readonly classOf: Uint8Array;
  /** In legend order. By stack, only the classes without a stack, because the others are hashes. */
  readonly classes: readonly ColorClass[];
}

export type FirstColoring = Extract<ColorBy, 'stack' | 'size'>;

/** @param classCount as for `makeColoring` */
export function firstColoring(
  context: DeviceModel,
  colorBy: FirstColoring,
  classCount: number,
): Coloring {
  return colorBy === 'stack' ? byStack(context, classCount) : bySize(context, classCount);
}

function byStack({ snapshot, replay, stacks }: DeviceModel, classCount: number): Coloring {
  const classOf = classesByStack(replay.allocations, snapshot, classCount, stacks);
  const absence = (classNumber: number, kind: StackKind): ColorClass => {
    return { class: classNumber, label: absenceText(kind), about: '', term: undefined };
  };
  const classes = [
    absence(CLASS_NO_PYTHON_STACK, 'no-python-stack'),
    absence(CLASS_NO_CONTEXT, 'no-context'),
    absence(CLASS_BEFORE_RECORDING, 'before-recording'),
  ];
  return { classOf, classes };
}

function bySize({ replay }: DeviceModel, classCount: number): Coloring {
  const classes = Array.from({ length: classCount }, (_, at): ColorClass => {
    const [from, to] = [sizeEdge(at, classCount), sizeEdge(at + 1, classCount)];
    const label = at === 0 ? `below ${edgeText(to)}` : `from ${edgeText(from)}`;
    return { class: at, label, about: '', term: sizeTerms(from, to) };
  });
  return { classOf: classesBySize(replay.allocations, classCount), classes };
}

/** '4 KiB': edges are whole powers of two. */
const edgeText = (bytes: number): string => formatBytes(bytes).replace('.00', '');

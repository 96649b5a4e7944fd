import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { FlameContext, flameStacks } from './flame-context.ts';
import { calleeTree, callerTree, type FlameNode } from './flame-graph.ts';
import type { FlameRow } from './flame-table.ts';
import {
  isTransformList,
  parseTransform,
  type TransformKind,
  targetText,
  transformsIn,
  transformText,
  withTransform,
} from './transform-text.ts';
import type { FlameFrames, FlameGroup, FlameGrouping, FlameSet } from './types.ts';

const MI = 2 ** 20;
const TORCH = '/v/lib/python3.12/site-packages/torch/nn.py';

/** Frames by letter: f and g are the user's, t and u are in a library; each has two lines. */
const FRAMES: Readonly<Record<string, string>> = {
  f: 'run.py:1 f',
  F: 'run.py:2 f',
  g: 'run.py:7 g',
  G: 'other.py:8 g',
  t: `${TORCH}:3 t`,
  u: `${TORCH}:5 u`,
};

/** 'fgt' is f, which calls g, which calls t. Each allocation is one MiB larger than the one before. */
function drawn(...stacks: readonly string[]): {
  readonly context: DeviceModel;
  readonly set: FlameSet;
} {
  const lines = stacks.map((letters, i) => {
    const frames = [...letters].reverse().map((letter) => FRAMES[letter]);
    const stack = frames.length === 0 ? '' : ` @${frames.join(' < ')}`;
    return `+A${i} ${2 * (i + 1)}Mi${stack}`;
  });
  const { snapshot } = snapshotFromText(['+seg 400Mi large @0x20000000', ...lines].join('\n'));
  return { context: contextsOf(snapshot)[0], set: { kind: 'live', event: stacks.length } };
}

class Tried {
  readonly #flames: FlameContext;
  readonly #set: FlameSet;
  readonly groupBy: FlameGrouping;
  readonly frames: FlameFrames;

  constructor(
    { context, set }: { readonly context: DeviceModel; readonly set: FlameSet },
    groupBy: FlameGrouping = 'function',
    frames: FlameFrames = 'known',
  ) {
    this.#flames = new FlameContext(context);
    this.#set = set;
    this.groupBy = groupBy;
    this.frames = frames;
  }

  flame(...transforms: readonly string[]) {
    const { groupBy, frames } = this;
    const shape = { groupBy, frames, transforms: transforms.join(',') };
    return this.#flames.flame(shape, { set: this.#set, weight: 'bytes' });
  }

  total(...transforms: readonly string[]): number {
    return callerTree(this.flame(...transforms).weighed).value;
  }

  rows(...transforms: readonly string[]): readonly FlameRow[] {
    const { rows } = this.flame(...transforms);
    return rows.page({ by: 'total', descending: true }, 0, rows.length).rows;
  }

  /** 'f>g 4': each stack of boxes with its MiB, sorted. */
  stacks(...transforms: readonly string[]): readonly string[] {
    return [...flameStacks(this.flame(...transforms))]
      .map(({ groups, value }) => `${groups.map(textOf).join('>')} ${value / MI}`)
      .sort();
  }
}

const textOf = (group: FlameGroup) =>
  group.kind === 'absent' ? group.reason : 'label' in group ? group.label : '';

/** 'f-1x0f3k9': the target of the function or the library with that name. */
function targetOf(tried: Tried, label: string): string {
  const targets = tried
    .rows()
    .flatMap(({ group }) => (group.kind === 'frame' ? group.targets : []));
  const target = targets.find((one) => one.label === label);
  if (target === undefined) throw new Error(`no ${label}`);
  return targetText(target);
}

describe('a transform', () => {
  const example = drawn('fg', 'fgt', 'gtu', 'ffF', 'gffg', '');
  const byFunction = new Tried(example);
  const byLine = new Tried(example, 'line');
  const apply = (tried: Tried, kind: TransformKind, label: string) =>
    tried.stacks(transformText(kind, targetOf(tried, label)));

  it('starts from these stacks', () => {
    expect(byFunction.stacks()).toEqual([
      'f 8',
      'f>g 2',
      'f>g>t 4',
      'g>f>g 10',
      'g>t>u 6',
      'no-python-stack 12',
    ]);
  });

  it('focuses on a function: its stacks begin there, the rest is left out', () => {
    expect(apply(byFunction, 'focus', 'f')).toEqual(['f 8', 'f>g 12', 'f>g>t 4']);
  });

  it('keeps the callers of a function: its stacks end there', () => {
    expect(apply(byFunction, 'callers', 'g')).toEqual(['f>g 6', 'g 16']);
  });

  it('merges a function: its bytes go to its caller', () => {
    expect(apply(byFunction, 'merge', 'g')).toEqual([
      'f 20',
      'f>t 4',
      'no-python-stack 12',
      't>u 6',
    ]);
    // What has no frame left still counts.
    expect(apply(byFunction, 'merge', 'f')).toContain('none-shown 8');
  });

  it('drops a function, or a library: allocations with it are left out', () => {
    expect(apply(byFunction, 'drop', 'f')).toEqual(['g>t>u 6', 'no-python-stack 12']);
    expect(apply(byFunction, 'drop', 'torch')).toEqual([
      'f 8',
      'f>g 2',
      'g>f>g 10',
      'no-python-stack 12',
    ]);
  });

  it('collapses a library into one box, whatever the boxes are', () => {
    const collapsed = [
      'f 8',
      'f>g 2',
      'f>g>torch 4',
      'g>f>g 10',
      'g>torch 6',
      'no-python-stack 12',
    ];
    expect(apply(byFunction, 'collapse', 'torch')).toEqual(collapsed);
    const lines = byLine.flame(transformText('collapse', targetOf(byLine, 'torch')));
    const torch = [...flameStacks(lines)]
      .flatMap(({ groups }) => groups)
      .find((one) => textOf(one) === 'torch');
    expect(torch).toMatchObject({ level: 'module', location: '' });
  });

  it('collapses recursion into one box of the function', () => {
    const { weighed } = byLine.flame();
    const deepest = Math.max(...weighed.tree.depth);
    const collapsed = byLine.flame(transformText('collapse', targetOf(byLine, 'f')));
    expect(deepest).toBe(4);
    expect(Math.max(...collapsed.weighed.tree.depth)).toBe(3);
    expect(apply(byLine, 'collapse', 'f')).toEqual(byFunction.stacks());
  });

  it('applies to what the one before has left', () => {
    const merged = transformText('merge', targetOf(byFunction, 'g'));
    const focus = transformText('focus', targetOf(byFunction, 't'));
    const torch = transformText('collapse', targetOf(byFunction, 'torch'));
    expect(byFunction.stacks(focus, merged)).toEqual(['t 4', 't>u 6']);
    expect(byFunction.stacks(focus, merged, torch)).toEqual(['torch 10']);
    // A library in one box is still that library.
    const drop = transformText('drop', targetOf(byFunction, 'torch'));
    expect(byFunction.total(torch, drop)).toBe(byFunction.total(drop));
  });

  it('names what it was applied to, or that it is not here', () => {
    const { steps } = byFunction.flame(
      transformText('merge', targetOf(byFunction, 'g')),
      'mf-nowhere',
    );
    expect(steps.map(({ kind, of }) => [kind, of && textOf(of)])).toEqual([
      ['merge', 'g'],
      ['merge', undefined],
    ]);
    expect(byFunction.total('mf-nowhere')).toBe(byFunction.total());
    expect(byFunction.total('ff-nowhere')).toBe(0);
  });

  it('leaves rows by call stack with a recorded stack, and with the line that is left', () => {
    const byStack = new Tried(example, 'stack');
    const rows = byStack.rows(transformText('merge', targetOf(byStack, 'g')));
    expect(rows.map(({ total }) => total / MI)).toEqual([12, 10, 8, 6, 4, 2]);
    for (const { userFrame } of rows) expect(userFrame?.name).not.toBe('g');
  });
});

const letters = fc
  .array(fc.constantFrom(...Object.keys(FRAMES)), { maxLength: 6 })
  .map((own) => own.join(''));
const stacks = fc.array(letters, { minLength: 1, maxLength: 12 });
const grouping = fc.constantFrom<FlameGrouping>(
  'line',
  'function',
  'file',
  'module',
  'stack',
  'class',
);
const shown = fc.constantFrom<FlameFrames>('own', 'known', 'all');
const tried = fc
  .tuple(stacks, grouping, shown)
  .map(([own, groupBy, frames]) => new Tried(drawn(...own), groupBy, frames));

/** A row of the table and one of its targets; undefined without frames. */
function pick(of: Tried, seed: number, ...transforms: readonly string[]) {
  const rows = of.rows(...transforms).filter(({ group }) => group.kind === 'frame');
  const row = rows[seed % Math.max(1, rows.length)];
  if (row?.group.kind !== 'frame') return undefined;
  const { targets } = row.group;
  return { row, target: targetText(targets[seed % targets.length]) };
}

const eachTarget = (
  check: (of: Tried, target: string, row: FlameRow, before: readonly string[]) => void,
) =>
  fc.assert(
    fc.property(tried, fc.nat(), fc.boolean(), (of, seed, isSecond) => {
      const first = isSecond ? pick(of, seed >> 3) : undefined;
      const before =
        first === undefined ? [] : [transformText(seed % 2 ? 'merge' : 'collapse', first.target)];
      const picked = pick(of, seed, ...before);
      if (picked !== undefined) check(of, picked.target, picked.row, before);
    }),
    { numRuns: 100 },
  );

describe('of any stacks, also after another transform', () => {
  it('merging and collapsing keep the total', () => {
    eachTarget((of, target, _, before) => {
      for (const kind of ['merge', 'collapse'] as const) {
        expect(of.total(...before, transformText(kind, target))).toBe(of.total());
      }
    });
  });

  it('focusing and dropping share the total', () => {
    eachTarget((of, target, _, before) => {
      const [focused, callers, dropped] = (['focus', 'callers', 'drop'] as const).map((kind) =>
        of.total(...before, transformText(kind, target)),
      );
      expect(focused + dropped).toBe(of.total());
      expect(callers).toBe(focused);
    });
  });

  it('callers and callees of a function each have what the table says of it, recursion counted once', () => {
    const roots = (node: FlameNode) => node.children().reduce((sum, { value }) => sum + value, 0);
    eachTarget((of, target, row, before) => {
      const focus = of.flame(...before, transformText('focus', target));
      const callers = of.flame(...before, transformText('callers', target));
      const bytes = callerTree(focus.weighed).value;
      expect(roots(callerTree(focus.weighed))).toBe(bytes);
      expect(roots(calleeTree(callers.weighed))).toBe(bytes);
      const { group } = row;
      if (of.groupBy === 'stack' || group.kind !== 'frame' || !target.endsWith(`-${row.key}`))
        return;
      expect(bytes).toBe(row.total);
    });
  });

  it('and that is the bytes of the allocations with it', () => {
    fc.assert(
      fc.property(stacks, (own) => {
        const of = new Tried(drawn('f', ...own), 'line');
        const target = targetOf(of, 'f');
        const sizes = ['f', ...own].map((text, i) => (/f/i.test(text) ? 2 * (i + 1) * MI : 0));
        const bytes = sizes.reduce((sum, size) => sum + size, 0);
        expect(callerTree(of.flame(`f${target}`).weighed).value).toBe(bytes);
        expect(calleeTree(of.flame(`u${target}`).weighed).value).toBe(bytes);
      }),
      { numRuns: 50 },
    );
  });

  it('a subtree is the box, in both directions', () => {
    fc.assert(
      fc.property(tried, fc.nat(), fc.boolean(), (of, seed, inverted) => {
        if (of.groupBy === 'class') return;
        const { weighed, groups } = of.flame();
        const tree = inverted ? calleeTree(weighed) : callerTree(weighed);
        const path: string[] = [];
        let node = tree;
        for (let depth = 0; depth <= seed % 4; depth++) {
          const below = node
            .children()
            .filter(({ group }) => groups.describe(group).kind === 'frame');
          const next = below[seed % Math.max(1, below.length)];
          if (next === undefined) break;
          node = next;
          path.push(groups.keyOf(node.group));
        }
        if (path.length === 0) return;
        const level = of.groupBy === 'stack' ? 'line' : of.groupBy;
        if (level === 'holder') return;
        const subtree = transformText(
          inverted ? 'tail' : 'subtree',
          targetText({ level, key: path.join('.') }),
        );
        const after = of.flame(subtree);
        const [box, ...others] = (inverted ? calleeTree : callerTree)(after.weighed).children();
        expect(others).toEqual([]);
        expect(sameTree(box, after.groups.keyOf)).toEqual(sameTree(node, groups.keyOf));
      }),
      { numRuns: 100 },
    );
  });
});

/** A box with all below it. */
function sameTree(node: FlameNode, keyOf: (group: number) => string): unknown {
  const below = node.children().map((child) => sameTree(child, keyOf));
  return [
    keyOf(node.group),
    node.value,
    node.count,
    below.map((one) => JSON.stringify(one)).sort(),
  ];
}

it('share the total of a real recording with C++ stacks, and end where the table says', () => {
  const [context] = contextsOf(loadCapture('train_gpt_cpp_stacks.pickle.gz'));
  const { event } = context.replay.peaks.activeBytes;
  const of = new Tried({ context, set: { kind: 'live', event } });
  expect(of.total()).toBe(context.replay.peaks.activeBytes.bytes);
  for (const { group, total } of of.rows().slice(0, 30)) {
    if (group.kind !== 'frame') continue;
    const [own, library] = group.targets.map(targetText);
    expect(of.total(`f${own}`)).toBe(total);
    expect(of.total(`f${own}`) + of.total(`d${own}`)).toBe(of.total());
    expect(of.total(`f${library}`) + of.total(`d${library}`)).toBe(of.total());
    expect(of.total(`c${library}`, `m${own}`)).toBe(of.total());
  }
});

it('a list is read as it was written', () => {
  const list = withTransform(withTransform('', transformText('merge', 'f-1x0')), 'sl-a.b.c');
  expect(list).toBe('mf-1x0,sl-a.b.c');
  expect(isTransformList(list)).toBe(true);
  expect(transformsIn(list).map(parseTransform)).toEqual([
    { kind: 'merge', level: 'function', key: '1x0' },
    { kind: 'subtree', level: 'line', key: 'a.b.c' },
  ]);
  for (const text of ['', 'x', 'mf', 'mf-', 'zf-1', 'mf-1,', 'mf-1 ,mf-2']) {
    expect(isTransformList(text), text).toBe(false);
  }
});

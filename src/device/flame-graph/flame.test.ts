import fc from 'fast-check';
import { assert, describe, expect, it } from 'vitest';
import { AnalysisInput } from '../../analysis/findings/analysis-input.ts';
import { allocatorProgram } from '../../testing/arbitrary-program.ts';
import { captureNames, isRepeated, loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { flameGraphOf } from '../../testing/flame-graph-of.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { classTotalsAt } from '../classes/classify.ts';
import { MEMORY_CLASSES } from '../classes/types.ts';
import { FlameContext } from './flame-context.ts';
import { calleeTree, callerTree, type FlameGraph } from './flame-graph.ts';
import type { FlameFrames, FlameGrouping, FlameOrderBy, FlameSet } from './types.ts';

const GROUPINGS: readonly FlameGrouping[] = ['class', 'line', 'function', 'file', 'module'];
const FRAMES: readonly FlameFrames[] = ['own', 'known', 'all'];

const live = (event: number): FlameSet => ({ kind: 'live', event });

function labels(graph: FlameGraph): string[] {
  return Array.from(graph.boxes.group, (group) => {
    const described = graph.groups[group];
    if (described === undefined) return 'all';
    return described.kind === 'absent' ? described.reason : described.label;
  });
}

const TREE = snapshotFromText(`
  +seg 20Mi large @0x2000000
  +A 2Mi @model.py:5 forward < train.py:3 step < main.py:1 main
  +B 4Mi @model.py:6 forward < train.py:3 step < main.py:1 main
  +C 2Mi @optim.py:9 update < train.py:4 step < main.py:1 main
  -A
  +D 6Mi @model.py:5 forward < model.py:5 forward < main.py:2 main
  -B?
`);
const [TREE_CONTEXT] = contextsOf(TREE.snapshot);
const MI = 2 ** 20;

describe('boxes', () => {
  it('stand below their callers, the largest first', () => {
    const graph = flameGraphOf(TREE_CONTEXT, { set: live(TREE.eventOf('+C')), weight: 'bytes' });
    expect(labels(graph)).toEqual(['all', 'main', 'step', 'forward', 'forward', 'step', 'update']);
    expect([...graph.boxes.value]).toEqual([8, 8, 6, 4, 2, 2, 2].map((n) => n * MI));
    expect([...graph.boxes.parent]).toEqual([-1, 0, 1, 2, 2, 1, 5]);
    expect([...graph.boxes.count]).toEqual([3, 3, 2, 1, 1, 1, 1]);
  });

  it('stand below their callees when inverted', () => {
    const graph = flameGraphOf(
      TREE_CONTEXT,
      { set: live(TREE.eventOf('+C')), weight: 'bytes' },
      { by: 'function', inverted: true },
    );
    expect(labels(graph)).toEqual(['all', 'forward', 'step', 'main', 'update', 'step', 'main']);
    expect([...graph.boxes.value]).toEqual([8, 6, 6, 6, 2, 2, 2].map((n) => n * MI));
  });

  it('of a recursive function are one', () => {
    const graph = flameGraphOf(
      TREE_CONTEXT,
      { set: live(TREE.eventOf('+D')), weight: 'count' },
      { by: 'function' },
    );
    expect(labels(graph)).toEqual(['all', 'main', 'step', 'forward', 'update', 'forward']);
  });

  it('too small to see are merged and counted', () => {
    const options = { set: live(TREE.eventOf('+C')), weight: 'bytes' } as const;
    const graph = flameGraphOf(TREE_CONTEXT, options, { smallestShare: 0.3 });
    expect(labels(graph)).toEqual(['all', 'main', 'step', 'forward', 'all', 'all']);
    expect([...graph.boxes.hidden]).toEqual([0, 0, 0, 0, 1, 1]);
    expect([...graph.boxes.value]).toEqual([8, 8, 6, 4, 2, 2].map((n) => n * MI));
  });

  it('can be zoomed into by path; a missing path leads as far as it exists', () => {
    const options = { set: live(TREE.eventOf('+C')), weight: 'bytes' } as const;
    const whole = flameGraphOf(TREE_CONTEXT, options);
    const path = [1, 2].map((box) => whole.groupKeys[whole.boxes.group[box]]).join('.');
    const zoomed = flameGraphOf(TREE_CONTEXT, options, { root: path });
    expect(labels(zoomed)).toEqual(['step', 'forward', 'forward']);
    expect(zoomed.isRootFound).toBe(true);
    expect(zoomed.total.value).toBe(8 * MI);
    expect(zoomed.trail.map(({ value }) => value)).toEqual([8 * MI, 6 * MI]);
    expect(zoomed.trail[1]?.path).toBe(path);
    const lost = flameGraphOf(TREE_CONTEXT, options, { root: `${path}.nowhere` });
    expect(labels(lost)).toEqual(labels(zoomed));
    expect(lost.isRootFound).toBe(false);
  });
});

describe('weights', () => {
  it('distinguish a block with a pending free from an allocated one', () => {
    const set = live(TREE.eventOf('-B?'));
    expect(flameGraphOf(TREE_CONTEXT, { set, weight: 'bytes' }).total.value).toBe(12 * MI);
    expect(flameGraphOf(TREE_CONTEXT, { set, weight: 'allocated' }).total.value).toBe(8 * MI);
  });

  it('multiply bytes by the time they were held', () => {
    const set = live(TREE.eventOf('+A'));
    const start = TREE.eventOf('+A');
    const end = TREE.eventOf('-A') + 1;
    const { value } = flameGraphOf(TREE_CONTEXT, { set, weight: 'lifetime' }).total;
    expect(value).toBe(2 * MI * (end - start) * 10);
  });

  it('have no lifetimes without a trace', () => {
    const [context] = contextsOf(loadCapture('no_history.pickle.gz'));
    const totalOf = (weight: 'lifetime' | 'bytes') =>
      flameGraphOf(context, { set: live(-1), weight }).total.value;
    expect(totalOf('lifetime')).toBe(0);
    expect(totalOf('bytes')).toBe(context.replay.end.activeBytes);
  });

  it('count what was allocated in a window, and nothing from before', () => {
    const [from, to] = [TREE.eventOf('+B'), TREE.eventOf('+D')];
    const window = flameGraphOf(TREE_CONTEXT, {
      set: { kind: 'window', from, to },
      weight: 'count',
    });
    expect(window.total.value).toBe(2);
    const empty = flameGraphOf(TREE_CONTEXT, {
      set: { kind: 'window', from, to: from },
      weight: 'count',
    });
    expect(empty.total.value).toBe(0);
    expect(labels(empty)).toEqual(['all']);
  });

  it('of a difference are what came minus what went, as wide as both', () => {
    const [before, after] = [TREE.eventOf('+A'), TREE.eventOf('+D')];
    const graph = flameGraphOf(TREE_CONTEXT, {
      set: { kind: 'difference', before, after },
      weight: 'bytes',
    });
    // A (2) went, B (4), C (2) and D (6) came.
    expect(graph.total).toMatchObject({ value: 10 * MI, magnitude: 14 * MI, count: 2 });
  });

  it('omit what does not match, or say how much matches', () => {
    const set = live(TREE.eventOf('+C'));
    const matches = Uint8Array.of(1, 0, 0, 0);
    const shown = flameGraphOf(TREE_CONTEXT, { set, weight: 'bytes', matches });
    expect(shown.total).toMatchObject({ value: 8 * MI, matched: 2 * MI });
    const alone = flameGraphOf(TREE_CONTEXT, { set, weight: 'bytes', matches, onlyMatches: true });
    expect(alone.total).toMatchObject({ value: 2 * MI, matched: 2 * MI });
  });
});

describe('by class', () => {
  const [context] = contextsOf(loadCapture('train_gpt_small.pickle.gz'));
  const set = live(context.replay.peaks.activeBytes.event);

  it('each class is an outermost box, with the lines of its allocations on top', () => {
    const graph = flameGraphOf(context, { set, weight: 'bytes' }, { by: 'class' });
    const { parent, value } = graph.boxes;
    const names = labels(graph);
    const roots = [...parent.keys()].filter((box) => parent[box] === 0);
    const expected = classTotalsAt(context, context.replay.peaks.activeBytes.event);
    const shown = Object.fromEntries(roots.map((box) => [names[box], value[box]]));
    for (const { class: of, bytes } of expected.slice(0, 4)) {
      expect(shown[MEMORY_CLASSES[of].label]).toBe(bytes);
    }
    const optimizer = names.indexOf('optimizer state');
    const above = names.filter((_, box) => parent[box] === optimizer);
    expect(above).toEqual(['<module>']);
  });

  it('a box can be zoomed into by its path, and has a search', () => {
    const flames = new FlameContext(context).flame(
      { groupBy: 'class', frames: 'known' },
      { set, weight: 'bytes' },
    );
    const { rows } = flames.rows.page({ by: 'total', descending: true }, 0, 100);
    const row = rows.find(
      ({ group }) => group.kind === 'class' && group.label === 'optimizer state',
    );
    expect(row?.group).toMatchObject({ search: 'class:optimizer-state' });
    const zoomed = flameGraphOf(context, { set, weight: 'bytes' }, { by: 'class', root: row?.key });
    expect(zoomed.isRootFound).toBe(true);
    expect(zoomed.boxes.value[0]).toBe(row?.total);
  });
});

describe('tables', () => {
  const rowsOf = (by: FlameGrouping, set: FlameSet) =>
    new FlameContext(TREE_CONTEXT)
      .flame({ groupBy: by, frames: 'known' }, { set, weight: 'bytes' })
      .rows.page({ by: 'total', descending: true }, 0, 100)
      .rows.map(({ group, self, total, count }) => [
        group.kind === 'frame' ? `${group.label} ${group.location}`.trim() : group.kind,
        self / MI,
        total / MI,
        count,
      ]);

  it('count recursion once', () => {
    // D's stack has 'forward' twice; 'main' is called from no other line of its file.
    expect(rowsOf('function', live(TREE.eventOf('+D')))).toEqual([
      ['main main.py', 0, 12, 3],
      ['forward model.py', 10, 10, 2],
      ['step train.py', 0, 6, 2],
      ['update optim.py', 2, 2, 1],
    ]);
  });

  it('by stack have one row per call stack, and lead to its box', () => {
    const flames = new FlameContext(TREE_CONTEXT);
    const options = { set: live(TREE.eventOf('+D')), weight: 'bytes' } as const;
    const shape = { groupBy: 'stack', frames: 'known' } as const;
    const { rows, length } = flames
      .flame(shape, options)
      .rows.page({ by: 'self', descending: true }, 0, 2);
    expect(length).toBe(3);
    expect(rows.map(({ userFrame, total }) => [userFrame?.line, total / MI])).toEqual([
      [5, 6],
      [6, 4],
    ]);
    const box = flameGraphOf(TREE_CONTEXT, options, { root: rows[0].key });
    expect(box.isRootFound).toBe(true);
    expect(box.boxes.value[0]).toBe(6 * MI);
  });

  it('sort by any column, both ways', () => {
    const flames = new FlameContext(TREE_CONTEXT);
    const options = { set: live(TREE.eventOf('+D')), weight: 'bytes' } as const;
    const { rows } = flames.flame({ groupBy: 'function', frames: 'known' }, options);
    const order = (by: FlameOrderBy, descending: boolean) =>
      rows
        .page({ by, descending }, 0, 9)
        .rows.map(({ group }) => (group.kind === 'frame' ? group.label : ''));
    expect(order('name', false)).toEqual(['forward', 'main', 'step', 'update']);
    expect(order('name', true)).toEqual(['update', 'step', 'main', 'forward']);
    expect(order('self', true).slice(0, 2)).toEqual(['forward', 'update']);
    expect(order('count', false)[0]).toBe('update');
  });
});

describe('allocations without a frame', () => {
  it('are in boxes that say why', () => {
    const { snapshot } = snapshotFromText(`
      +seg 20Mi large @0x2000000
      +A 2Mi @a.py:1 main
      record
      +B 2Mi
      +C 2Mi @/usr/lib/python3.12/queue.py:5 get
    `);
    const [context] = contextsOf(snapshot);
    const graph = flameGraphOf(context, { set: live(1), weight: 'bytes' }, { frames: 'own' });
    expect(labels(graph).sort()).toEqual([
      'all',
      'before-recording',
      'no-python-stack',
      'none-shown',
    ]);
    expect(labels(flameGraphOf(context, { set: live(1), weight: 'bytes' }))).toContain('get');
  });
});

describe('real captures', () => {
  it('gives a stack of C++ plumbing the name that it has in legends', () => {
    const [context] = contextsOf(loadCapture('pairs/lora.all.pickle.gz'));
    const set = { kind: 'window', from: 0, to: context.trace.events.length } as const;
    const graph = flameGraphOf(context, { set, weight: 'bytes' });
    expect(labels(graph)).not.toContain('none-shown');
    expect(labels(graph)).toContain('add_Tensor (backward pass)');
  });

  it('leak_output_list: from step 10 to step 30 the leaking line grew most', () => {
    const [context] = contextsOf(loadCapture('leak_output_list.pickle.gz'));
    const { bounds } = new AnalysisInput(context).stepSequences[0];
    const [before, after] = [bounds[10 + 1], bounds[30 + 1]];
    const set: FlameSet = { kind: 'difference', before, after };
    const { rows } = new FlameContext(context)
      .flame({ groupBy: 'line', frames: 'known' }, { set, weight: 'bytes' })
      .rows.page({ by: 'total', descending: true }, 0, 8);
    // Its callers hold it too, and a little more.
    expect(rows.map(({ total }) => total)).toEqual(
      rows.map(({ total }) => total).toSorted((a, b) => b - a),
    );
    const first = rows.find(({ group }) => group.kind === 'frame' && group.frame.line === 262);
    assert(first !== undefined);
    expect(first.group).toMatchObject({ label: 'leak_output_list' });
    // 20 steps, each of which keeps its output with all of its graph.
    expect(first.total).toBe(986_255_360);
    expect(first.count).toBe(20 * 51);
  });

  it.each(captureNames().filter((name) => !isRepeated(name)))(
    '%s: adds up to the counters, by every grouping and direction',
    (name) => {
      for (const context of contextsOf(loadCapture(name))) {
        const { replay, trace } = context;
        const { activeBytes, allocatedBytes } = replay.peaks;
        const flames = new FlameContext(context);
        const last = trace.events.length - 1;
        const events = [-1, last, activeBytes.event, allocatedBytes.event];
        for (let i = 1; i < 6; i++) events.push(Math.floor((last * i) / 6));
        for (const [i, event] of events.entries()) {
          const shape = { groupBy: GROUPINGS[i % 4], frames: FRAMES[i % 3] };
          const totals = (weight: 'bytes' | 'allocated') => {
            const { weighed } = flames.flame(shape, { set: live(event), weight });
            return [callerTree(weighed).value, calleeTree(weighed).value];
          };
          const { activeBytes: active, allocatedBytes: allocated } = replay.countersAt(event);
          expect(totals('bytes'), `active at ${event}`).toEqual([active, active]);
          expect(totals('allocated'), `allocated at ${event}`).toEqual([allocated, allocated]);
        }
      }
    },
  );
});

it('adds up to the counters after every event of any program, and differences to theirs', () => {
  fc.assert(
    fc.property(allocatorProgram([]), fc.nat(), (lines, seed) => {
      const drawn = snapshotFromText(lines.join('\n'));
      const [context] = contextsOf(drawn.snapshot);
      const flames = new FlameContext(context);
      const shape = { groupBy: GROUPINGS[seed % 4], frames: 'known' } as const;
      const totalOf = (set: FlameSet, weight: 'bytes' | 'allocated') =>
        callerTree(flames.flame(shape, { set, weight }).weighed).value;
      const events = context.trace.events.length;
      const other = (seed % (events + 1)) - 1;
      for (let event = -1; event < events; event++) {
        const [then, now] = [drawn.counters[0][other + 1], drawn.counters[0][event + 1]];
        expect(totalOf(live(event), 'bytes')).toBe(now.activeBytes);
        expect(totalOf(live(event), 'allocated')).toBe(now.allocatedBytes);
        const set: FlameSet = { kind: 'difference', before: other, after: event };
        expect(totalOf(set, 'bytes')).toBe(now.activeBytes - then.activeBytes);
      }
    }),
    { numRuns: 40 },
  );
});

it('is as wide as its boxes: the rest is in boxes too small to see, or its own', () => {
  fc.assert(
    fc.property(
      allocatorProgram([]),
      fc.double({ min: 0, max: 0.4, noNaN: true }),
      fc.boolean(),
      (lines, smallestShare, inverted) => {
        const [context] = contextsOf(snapshotFromText(lines.join('\n')).snapshot);
        const last = context.trace.events.length - 1;
        const set: FlameSet = { kind: 'difference', before: last >> 1, after: last };
        const { boxes } = flameGraphOf(
          context,
          { set, weight: 'bytes' },
          { smallestShare, inverted },
        );
        const inside = boxes.selfMagnitude.slice();
        for (let box = boxes.length - 1; box > 0; box--) inside[boxes.parent[box]] += inside[box];
        expect(inside).toEqual(boxes.magnitude);
      },
    ),
  );
});

/** Grouped by the variable that holds it: real runs on a GPU, recorded with names. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { flameGraphOf } from '../../testing/flame-graph-of.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { holderShare } from '../model/holders.ts';
import { matchAllocations } from '../search/match-search.ts';
import { FlameContext, flameStacks } from './flame-context.ts';
import { nameParts } from './holder-tree.ts';
import type { FlameSet, FlameWeight } from './types.ts';

const [context] = contextsOf(loadCapture('record/holders.pickle.gz'));
const END = context.trace.events.length - 1;
const live = (event: number): FlameSet => ({ kind: 'live', event });

function boxesOf(set: FlameSet, weight: FlameWeight = 'bytes') {
  const { boxes, groups } = flameGraphOf(context, { set, weight }, { by: 'holder' });
  return Array.from(boxes.group, (of, at) => ({ group: groups[of], value: boxes.value[at], at }));
}

const parts = (name: string) => nameParts(name).map(({ label }) => label);

describe('the parts of a name', () => {
  it('are its attributes and items, not what brackets or quotes contain', () => {
    expect(parts('model.layers.0.mlp.weight')).toEqual(['model', 'layers', '0', 'mlp', 'weight']);
    expect(parts("the graph of x in f()['a.b'][0].grad")).toEqual([
      'the graph of x in f()',
      "['a.b']",
      '[0]',
      'grad',
    ]);
    expect(parts('opt in main().state[model[0].weight].exp_avg')).toEqual([
      'opt in main()',
      'state',
      '[model[0].weight]',
      'exp_avg',
    ]);
    expect(parts(String.raw`a["it's ]"]['\']'].'x.y'`)).toEqual([
      'a',
      `["it's ]"]`,
      String.raw`['\']']`,
      `'x.y'`,
    ]);
    expect(parts("f's traceback: x in g()[1]")).toEqual(["f's traceback: x in g()", '[1]']);
  });

  it('are the whole name, in order', () => {
    const name = fc.string({ unit: fc.constantFrom(...'ab.[]\'"\\ ') });
    fc.assert(
      fc.property(name, (text) => {
        let from = 0;
        for (const { label, end } of nameParts(text)) {
          expect(text.slice(from, end).replace(/^\./, '')).toBe(label);
          from = end;
        }
        expect(from).toBe(text.length);
      }),
    );
  });
});

describe('boxes of variables', () => {
  it('add up to what the frames’ boxes add up to, at any moment and by any weight', () => {
    const weight = fc.constantFrom<FlameWeight>('bytes', 'allocated', 'count', 'lifetime');
    const event = fc.integer({ min: 0, max: END });
    const set = fc.oneof(
      event.map(live),
      fc.tuple(event, event).map(([a, b]): FlameSet => ({ kind: 'window', from: a, to: b })),
      fc
        .tuple(event, event)
        .map(([before, after]): FlameSet => ({ kind: 'difference', before, after })),
    );
    fc.assert(
      fc.property(set, weight, (asked, by) => {
        const options = { set: asked, weight: by };
        const [names, frames] = (['holder', 'line'] as const).map((grouping) =>
          flameGraphOf(context, options, { by: grouping }),
        );
        expect(names.total.value).toBeCloseTo(frames.total.value, 3);
        expect(names.total.count).toBe(frames.total.count);
      }),
      { numRuns: 60 },
    );
  });

  it('at the end have the bytes of their search, and what has no name is a box', () => {
    const { sizeBytes } = context.replay.allocations;
    const found = boxesOf(live(END)).slice(1);
    for (const { group, value } of found) {
      const search = group?.kind === 'holder' || group?.kind === 'absent' ? group.search : '';
      const { mask } = matchAllocations(context, search ?? '', END);
      const bytes = [...(mask ?? [])].reduce((sum, isHit, id) => sum + isHit * sizeBytes[id], 0);
      expect([search, bytes]).toEqual([search, value]);
    }
    const share = holderShare(context);
    const unnamed = found.find(({ group }) => group?.kind === 'absent');
    expect(unnamed?.value).toBe((share?.liveBytes ?? 0) - (share?.namedBytes ?? 0));
    const labels = found.flatMap(({ group }) => (group?.kind === 'holder' ? [group.name] : []));
    expect(labels).toContain('losses in main()');
    expect(labels).toContain("the graph of losses in main()['train']");
  });

  it('earlier, do not count what was freed since as nameless', () => {
    const half = boxesOf({ kind: 'window', from: 0, to: END + 1 });
    const reasons = half.flatMap(({ group }) => (group?.kind === 'absent' ? [group.reason] : []));
    expect(reasons.toSorted()).toEqual(['freed', 'no-name']);
  });

  it('are rows with their whole name, and stacks in an export', () => {
    const flame = new FlameContext(context).flame(
      { groupBy: 'holder', frames: 'known' },
      { set: live(END), weight: 'bytes' },
    );
    const { rows } = flame.rows.page({ by: 'name', descending: false }, 0, flame.rows.length);
    const names = rows.flatMap(({ group }) => (group.kind === 'holder' ? [group.name] : []));
    expect(names).toEqual(names.toSorted());
    expect(new Set(names).size).toBe(names.length);
    const total = [...flameStacks(flame)].reduce((sum, { value }) => sum + value, 0);
    expect(total).toBe(holderShare(context)?.liveBytes);
  });

  it('of a file without names are the boxes of its frames', () => {
    const drawn = snapshotFromText('+seg 2Mi large @0x2000000\n+A 2Mi @train.py:3 step');
    const [bare] = contextsOf(drawn.snapshot);
    const options = { set: live(drawn.eventOf('+A')), weight: 'bytes' } as const;
    const { groups } = flameGraphOf(bare, options, { by: 'holder' });
    expect(groups.map(({ kind }) => kind)).toEqual(['frame']);
  });
});

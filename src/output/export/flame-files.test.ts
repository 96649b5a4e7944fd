import { describe, expect, it } from 'vitest';
import {
  FlameContext,
  type FlameShape,
  flameStacks,
} from '../../device/flame-graph/flame-context.ts';
import type { FlameSet } from '../../device/flame-graph/types.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { foldedStacks, speedscopeFile } from './flame-files.ts';

const LINES: FlameShape = { groupBy: 'line', frames: 'known' };
const MI = 2 ** 20;

const DRAWN = snapshotFromText(`
  +seg 20Mi large @0x2000000
  +A 2Mi @model.py:5 forward < main.py:1 main
  +B 4Mi @odd;name.py:6 call < main.py:1 main
  -A
`);
const [CONTEXT] = contextsOf(DRAWN.snapshot);

const stacksOf = (context: DeviceModel, set: FlameSet, shape = LINES) =>
  flameStacks(new FlameContext(context).flame(shape, { set, weight: 'bytes' }));

describe('folded stacks', () => {
  it('have one line per stack, with frames separated by semicolons', () => {
    const set: FlameSet = { kind: 'live', event: DRAWN.eventOf('+B') };
    expect(foldedStacks(stacksOf(CONTEXT, set), false)).toBe(
      `main (main.py:1);call (odd:name.py:6) ${4 * MI}\n` +
        `main (main.py:1);forward (model.py:5) ${2 * MI}\n`,
    );
  });

  it('of a difference show what went and what came', () => {
    const [before, after] = [DRAWN.eventOf('+A'), DRAWN.eventOf('-A') + 1];
    expect(foldedStacks(stacksOf(CONTEXT, { kind: 'difference', before, after }), true)).toBe(
      `main (main.py:1);call (odd:name.py:6) 0 ${4 * MI}\n` +
        `main (main.py:1);forward (model.py:5) ${2 * MI} 0\n`,
    );
  });

  it('of a capture add up to its counter', () => {
    const [context] = contextsOf(loadCapture('train_gpt_cpp_stacks.pickle.gz'));
    const { bytes, event } = context.replay.peaks.activeBytes;
    const set: FlameSet = { kind: 'live', event };
    const lines = foldedStacks(
      stacksOf(context, set, { groupBy: 'function', frames: 'all' }),
      false,
    )
      .trimEnd()
      .split('\n');
    const weights = lines.map((line) => Number(/^\S.* (\d+)$/.exec(line)?.[1]));
    expect(weights.reduce((sum, weight) => sum + weight, 0)).toBe(bytes);
  });
});

/**
 * What the schema requires of a file with sampled profiles: required properties and their types, units from its list,
 * and the rules in its comments: indices refer to shared frames, weights belong to samples, the end is not before the
 * start.
 */
function expectValid(text: string): void {
  const file = JSON.parse(text);
  expect(file.$schema).toBe('https://www.speedscope.app/file-format-schema.json');
  expect(file.activeProfileIndex).toBeLessThan(file.profiles.length);
  for (const key of ['name', 'exporter']) expect(typeof file[key]).toBe('string');
  for (const frame of file.shared.frames) {
    expect(typeof frame.name).toBe('string');
    expect(['string', 'undefined']).toContain(typeof frame.file);
    expect(frame.line === undefined || Number.isInteger(frame.line)).toBe(true);
    expect(Object.keys(frame).filter((key) => !['name', 'file', 'line'].includes(key))).toEqual([]);
  }
  for (const profile of file.profiles) {
    expect(profile.type).toBe('sampled');
    expect(typeof profile.name).toBe('string');
    expect(['none', 'bytes']).toContain(profile.unit);
    expect(profile.weights).toHaveLength(profile.samples.length);
    expect(profile.endValue).toBeGreaterThanOrEqual(profile.startValue);
    expect(
      profile.weights.every((weight: unknown) => typeof weight === 'number' && weight > 0),
    ).toBe(true);
    for (const index of profile.samples.flat()) {
      expect(file.shared.frames[index]).toBeDefined();
    }
  }
}

describe('speedscope', () => {
  it('has each frame once and the stacks outermost first', () => {
    const set: FlameSet = { kind: 'live', event: DRAWN.eventOf('+B') };
    const file = speedscopeFile(stacksOf(CONTEXT, set), {
      name: 'x',
      weight: 'bytes',
      isDifference: false,
    });
    expect(file.shared.frames).toEqual([
      { name: 'main', file: 'main.py', line: 1 },
      { name: 'call', file: 'odd;name.py', line: 6 },
      { name: 'forward', file: 'model.py', line: 5 },
    ]);
    expect(file.profiles[0]).toMatchObject({
      unit: 'bytes',
      endValue: 6 * MI,
      samples: [
        [0, 1],
        [0, 2],
      ],
      weights: [4 * MI, 2 * MI],
    });
    expectValid(JSON.stringify(file));
  });

  it('of a difference has a profile of what grew and one of what shrank', () => {
    const [context] = contextsOf(loadCapture('leak_output_list.pickle.gz'));
    const { allocations } = context.replay;
    const [before, after] = [allocations.start[900], allocations.start[2000]];
    const file = speedscopeFile(
      stacksOf(
        context,
        { kind: 'difference', before, after },
        { groupBy: 'module', frames: 'own' },
      ),
      { name: 'leak', weight: 'bytes', isDifference: true },
    );
    const [grew, shrank] = file.profiles.map(({ endValue }) => endValue);
    const { activeBytes } = context.replay.countersAt(after);
    expect(grew - shrank).toBe(activeBytes - context.replay.countersAt(before).activeBytes);
    expectValid(JSON.stringify(file));
  });

  it('is valid for real captures, also without stacks', () => {
    for (const name of ['train_recorded_late', 'train_gpt_cpp_stacks', 'no_history']) {
      const [context] = contextsOf(loadCapture(`${name}.pickle.gz`));
      const set: FlameSet = { kind: 'live', event: context.trace.events.length - 1 };
      const file = speedscopeFile(stacksOf(context, set), {
        name,
        weight: 'bytes',
        isDifference: false,
      });
      expect(file.profiles[0].endValue).toBe(context.replay.end.activeBytes);
      expectValid(JSON.stringify(file));
    }
  });
});

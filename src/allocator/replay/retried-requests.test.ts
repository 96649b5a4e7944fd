import { describe, expect, it } from 'vitest';
import { contextsOf } from '../../testing/contexts.ts';
import { at, inTorch, Program } from '../../testing/program.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { failedOoms, findRetriedOoms } from './trace-events.ts';

const CONV = '@conv.py:5 forward < train.py:3 step';

function retriedIn(text: string): (number | undefined)[] {
  const drawn = snapshotFromText(text);
  const [{ trace, replay }] = contextsOf(drawn.snapshot);
  const ooms = [...findRetriedOoms(trace, replay)];
  const named = ooms.map((event) => [0, 1, 2].find((nth) => isOom(event, nth)));
  return named;

  function isOom(event: number, nth: number): boolean {
    const count = trace.events.action.filter((action) => action === 8).length;
    return nth < count && drawn.eventOf('oom', nth) === event;
  }
}

describe('an OOM', () => {
  it('followed by a smaller request from the same place was not an error', () => {
    expect(retriedIn(`oom 300Mi ${CONV}\n oom 200Mi ${CONV}\n +A 1Mi ${CONV}`)).toEqual([0, 1]);
  });

  it('at the end of the trace, or before anything is freed, was an error', () => {
    expect(retriedIn(`+A 1Mi ${CONV}\n oom 300Mi ${CONV}\n -A`)).toEqual([]);
    expect(retriedIn(`+A 1Mi ${CONV}\n oom 300Mi ${CONV}`)).toEqual([]);
  });

  it('followed by a request from another place was an error', () => {
    expect(retriedIn(`oom 300Mi ${CONV}\n +A 1Mi @train.py:9 step`)).toEqual([]);
  });

  it('in backward’s threads, which have no stack, is also judged by what follows', () => {
    const before = `+A 1Mi ${CONV}`;
    expect(retriedIn(`${before}\n oom 300Mi @\n +B 1Mi`)).toEqual([0]);
    expect(retriedIn(`${before}\n oom 300Mi @\n +B 1Mi ${CONV}`)).toEqual([]);
  });

  it('finds none without any stacks', () => {
    expect(retriedIn('oom 300Mi\n +A 1Mi')).toEqual([]);
    expect(retriedIn('oom 300Mi @\n +A 1Mi')).toEqual([]);
  });

  it('is reported once, at the end of a chain that finally fails', () => {
    expect(retriedIn(`+A 1Mi ${CONV}\n oom 300Mi ${CONV}\n oom 200Mi ${CONV}\n -A`)).toEqual([0]);
  });

  it('is one attempt too if the cache is emptied before the same place fails again', () => {
    const emptied = `+A 30Mi ${CONV}\n -A\n oom 300Mi ${CONV}\n empty`;
    expect(retriedIn(`${emptied}\n oom 300Mi ${CONV}`)).toEqual([0]);
    expect(retriedIn(`${emptied}\n +B 300Mi ${CONV}`)).toEqual([]);
    expect(retriedIn(`${emptied}\n oom 300Mi @train.py:9 step`)).toEqual([]);
    const dropped = `+A 1Mi ${CONV}\n +B 2Mi\n oom 300Mi @\n -B`;
    expect(retriedIn(`${dropped}\n oom 300Mi @`)).toEqual([0]);
    expect(retriedIn(`${dropped}\n +C 300Mi`)).toEqual([]);
  });
});

/** Line `line` of the user's block, whose forward a module calls for line 10. */
const inBlock = (line: number) => [
  at(line, 'forward'),
  inTorch('nn/modules/module.py', '_call_impl', 1790),
  at(10),
];

/** A convolution in line 38 of a block, its workspace refused, its input freed, and the next request by `next`. */
function failuresBefore(next: Parameters<Program['alloc']>[1]): number {
  const program = new Program();
  const input = program.alloc(2 ** 20, inBlock(37));
  program.oom(2 ** 30, [inTorch('nn/modules/conv.py', 'forward', 370), ...inBlock(38)]);
  program.freeAt(inBlock(38), input);
  program.alloc(2 ** 20, next);
  const { trace, replay, stacks } = program.context();
  return failedOoms(trace, replay, stacks).length;
}

it('an OOM after which the same forward goes on was no error', () => {
  const layer = [at(5, 'forward'), inTorch('nn/modules/module.py', '_call_impl', 1790)];
  expect(failuresBefore(inBlock(39))).toBe(0);
  expect(failuresBefore([...layer, ...inBlock(39)])).toBe(0);
  // Its caller caught the error, and goes on or tries again.
  expect(failuresBefore([at(13)])).toBe(1);
  expect(failuresBefore(inBlock(37))).toBe(1);
  expect(failuresBefore([...layer, ...inBlock(37)])).toBe(1);
});

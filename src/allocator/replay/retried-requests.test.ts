import { describe, expect, it } from 'vitest';
import { contextsOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { findRetriedOoms } from './trace-events.ts';

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
  it('that the same place answers with a smaller request was no error', () => {
    expect(retriedIn(`oom 300Mi ${CONV}\n oom 200Mi ${CONV}\n +A 1Mi ${CONV}`)).toEqual([0, 1]);
  });

  it('at the end of the trace, or before anything is let go, was one', () => {
    expect(retriedIn(`+A 1Mi ${CONV}\n oom 300Mi ${CONV}\n -A`)).toEqual([]);
    expect(retriedIn(`+A 1Mi ${CONV}\n oom 300Mi ${CONV}`)).toEqual([]);
  });

  it('after which another place asks was one', () => {
    expect(retriedIn(`oom 300Mi ${CONV}\n +A 1Mi @train.py:9 step`)).toEqual([]);
  });

  it('of backward’s threads, which have no stack, goes by what follows too', () => {
    const before = `+A 1Mi ${CONV}`;
    expect(retriedIn(`${before}\n oom 300Mi @\n +B 1Mi`)).toEqual([0]);
    expect(retriedIn(`${before}\n oom 300Mi @\n +B 1Mi ${CONV}`)).toEqual([]);
  });

  it('finds none where no stack is known at all', () => {
    expect(retriedIn('oom 300Mi\n +A 1Mi')).toEqual([]);
    expect(retriedIn('oom 300Mi @\n +A 1Mi')).toEqual([]);
  });

  it('is told once at the end of a chain that fails in the end', () => {
    expect(retriedIn(`+A 1Mi ${CONV}\n oom 300Mi ${CONV}\n oom 200Mi ${CONV}\n -A`)).toEqual([0]);
  });
});

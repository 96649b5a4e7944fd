import { describe, expect, it } from 'vitest';
import { contextOf, contextsOf, traceOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { AnalysisInput } from '../findings/analysis-input.ts';
import { detectSegmentThrashing } from './segment-thrashing.ts';

const MIB = 2 ** 20;

describe('what counts as allocated again', () => {
  const reasonOf = (text: string) => {
    const [context] = contextsOf(snapshotFromText(text).snapshot);
    const result = detectSegmentThrashing(new AnalysisInput(context));
    return result.status === 'found' ? result.findings[0].claim : JSON.stringify(result);
  };
  const large = (name: string, place = '') => `+${name} 20Mi ${place} @train.py:7 step`;
  const round = (i: number) => `${large(`A${i}`)}\n-A${i}\nempty\n+x${i} 512 @train.py:9 note`;

  it('is what takes the place of what was given back, and no more', () => {
    const rounds = [
      '+first 512 @train.py:9 note',
      ...Array.from({ length: 20 }, (_, i) => round(i)),
    ].join('\n');
    const grown = Array.from({ length: 30 }, (_, i) => large(`B${i}`)).join('\n');
    // 19 of the rounds follow another, and one of the last 30 follows the last: the others are growth.
    expect(reasonOf(`${rounds}\n${grown}`)).toMatch(
      /20 segments went .* 20 were .*\(400\.00 MiB\)/,
    );
    const own = Array.from({ length: 30 }, (_, i) => large(`B${i}`, 'pool=1,0')).join('\n');
    expect(reasonOf(`${rounds}\n${own}`)).toMatch(/20 segments went .* 19 were .*\(380\.00 MiB\)/);
  });

  it('is no habit after one flush', () => {
    const all = Array.from({ length: 30 }, (_, i) => large(`A${i}`)).join('\n');
    const freed = Array.from({ length: 30 }, (_, i) => `-A${i}`).join('\n');
    expect(reasonOf(`${all}\n${freed}\nempty\n+x 512 @train.py:9 note\n${all}`)).toContain(
      '30 segments went back to the driver; 30 were allocated again in place of them.',
    );
  });
});

describe('who gives segments back', () => {
  const MIBS = (mib: number) => ({ addr: 1024 * MIB * mib, size: mib * MIB });
  const frames = (line: number) => [{ name: 'step', filename: '/home/me/train.py', line }];
  /** A segment is given back at `line`, and a larger one comes at line 7. */
  const eventsFrom = (line: number) =>
    Array.from({ length: 40 }, (_, i) => {
      const [small, large] = [MIBS(100 + i), MIBS(101 + i)];
      return [
        ...(i === 0 ? [{ action: 'segment_alloc', ...small, frames: frames(7) }] : []),
        { action: 'segment_free', ...small, frames: frames(line) },
        { action: 'segment_alloc', ...large, frames: frames(7) },
      ];
    }).flat();
  const textOf = (...trace: readonly Record<string, unknown>[]) =>
    JSON.stringify(detectSegmentThrashing(new AnalysisInput(contextOf(traceOf(...trace)))));
  const textFrom = (line: number) => textOf(...eventsFrom(line));

  it('is PyTorch, if a request that did not fit follows, and empty_cache() elsewhere', () => {
    expect(textFrom(7)).not.toContain('empty_cache');
    expect(textFrom(7)).toContain('by PyTorch itself for a request that did not fit');
    expect(textFrom(8)).toContain('leave out torch.cuda.empty_cache()');
    expect(textFrom(8)).not.toContain('flushes of the cache by PyTorch itself');
  });

  it('is no finding of its own if PyTorch did so only when memory ran out', () => {
    const block = { ...MIBS(1), frames: frames(7) };
    const calm = Array.from({ length: 100 }, () => [
      { action: 'alloc', ...block },
      { action: 'free_requested', ...block },
      { action: 'free_completed', ...block },
    ]).flat();
    const oom = { action: 'oom', size: 1024 * MIB, device_free: 0, frames: frames(7) };
    expect(textOf(...calm, ...eventsFrom(7), oom)).toContain('that belongs to the OOM');
    expect(textOf(...calm, ...eventsFrom(7))).toContain('"status":"found"');
    expect(textOf(...calm, ...eventsFrom(8), oom)).toContain('leave out torch.cuda.empty_cache()');
  });
});

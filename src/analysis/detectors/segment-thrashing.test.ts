import { describe, expect, it } from 'vitest';
import { contextOf, traceOf } from '../../testing/contexts.ts';
import { AnalysisInput } from '../findings/analysis-input.ts';
import { detectSegmentThrashing } from './segment-thrashing.ts';

const MIB = 2 ** 20;

describe('who gives segments back', () => {
  const MIBS = (mib: number) => ({ addr: 1024 * MIB * mib, size: mib * MIB });
  const frames = (line: number) => [{ name: 'step', filename: '/home/me/train.py', line }];
  /** A segment is given back at `line`, and a larger one comes at line 7. */
  const textFrom = (line: number) => {
    const trace = Array.from({ length: 40 }, (_, i) => {
      const [small, large] = [MIBS(100 + i), MIBS(101 + i)];
      return [
        ...(i === 0 ? [{ action: 'segment_alloc', ...small, frames: frames(7) }] : []),
        { action: 'segment_free', ...small, frames: frames(line) },
        { action: 'segment_alloc', ...large, frames: frames(7) },
      ];
    }).flat();
    return JSON.stringify(detectSegmentThrashing(new AnalysisInput(contextOf(traceOf(...trace)))));
  };

  it('is PyTorch, if a request that did not fit follows, and empty_cache() elsewhere', () => {
    expect(textFrom(7)).not.toContain('empty_cache');
    expect(textFrom(7)).toContain('by PyTorch itself for a request that did not fit');
    expect(textFrom(8)).toContain('leave out torch.cuda.empty_cache()');
    expect(textFrom(8)).not.toContain('flushes of the cache by PyTorch itself');
  });
});

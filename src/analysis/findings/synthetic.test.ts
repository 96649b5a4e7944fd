/** Hand-drawn programs: each detector's own question, independent of any script. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { abortError, isAbortError } from '../../base/errors.ts';
import { contextOf, traceOf } from '../../testing/contexts.ts';
import { peakBesideTrials } from '../account/cudnn-trials.ts';
import { analyse, detect } from './analyse.ts';
import { AnalysisInput } from './analysis-input.ts';
import { DETECTOR_IDS, type DetectorId, type Finding } from './detectors.ts';
import type { DetectorResult } from './types.ts';

const MIB = 2 ** 20;

/** A program: allocates by line of train.py, frees explicitly. Addresses are never reused. */
class HandDrawnProgram {
  readonly entries: Record<string, unknown>[] = [];
  #next = 0x7f0000000000;

  /** Address of the next allocation. */
  get next(): number {
    return this.#next;
  }

  skip(bytes: number): void {
    this.#next += bytes;
  }

  alloc(line: number, size: number, name = 'train'): { addr: number; size: number } {
    const block = { addr: this.#next, size };
    this.#next += Math.ceil(size / (2 * MIB)) * 2 * MIB;
    this.entries.push({ action: 'alloc', ...block, frames: this.frames(line, name) });
    return block;
  }

  backward(size: number): { addr: number; size: number } {
    const block = { addr: this.#next, size };
    this.#next += Math.ceil(size / (2 * MIB)) * 2 * MIB;
    this.entries.push({ action: 'alloc', ...block, frames: [] });
    return block;
  }

  free(block: { addr: number; size: number }): void {
    this.entries.push({ action: 'free_requested', ...block, frames: [] });
    this.entries.push({ action: 'free_completed', ...block, frames: [] });
  }

  frames(line: number, name: string): Record<string, unknown>[] {
    return [
      { filename: '/home/me/train.py', line, name },
      { filename: '/home/me/train.py', line: 900, name: '<module>' },
    ];
  }

  ask(detector: DetectorId): DetectorResult<Finding> {
    return detect(detector, new AnalysisInput(contextOf(traceOf(...this.entries))));
  }

  found(detector: DetectorId): readonly Finding[] {
    const result = this.ask(detector);
    return result.status === 'found' ? result.findings : [];
  }
}

/** A loop: lines 10 and 11 allocate memory of the step, which is freed in it. */
function loop(
  steps: number,
  body: (program: HandDrawnProgram, step: number) => void,
): HandDrawnProgram {
  const program = new HandDrawnProgram();
  for (let step = 0; step < steps; step++) {
    const input = program.alloc(10, 4096);
    const work = program.alloc(11, 8192);
    body(program, step);
    program.free(work);
    program.free(input);
  }
  return program;
}

describe('growth', () => {
  it('finds whatever a loop keeps, however often', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5000 }),
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 0, max: 6 }),
        (size, every, churn) => {
          const program = loop(every * 12 + 20, (p, step) => {
            for (let i = 0; i < churn; i++) p.free(p.alloc(12, 1000 + i));
            if (step % every === every - 1) p.alloc(20, size);
          });
          const [finding, ...more] = program.found('growth');
          expect(more).toEqual([]);
          expect(finding.frame?.line).toBe(20);
          const block = Math.ceil(size / 512) * 512;
          expect((finding.perStep?.bytes ?? 0) / (block / every)).toBeCloseTo(1, 2);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('is not fooled by queues of any length and order', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 16 }),
        fc.boolean(),
        fc.infiniteStream(fc.nat(1000)),
        (capacity, isRandom, numbers) => {
          const queue: { addr: number; size: number }[] = [];
          const program = loop(80, (p) => {
            queue.push(p.alloc(20, 3000));
            if (queue.length <= capacity) return;
            const at = isRandom ? (numbers.next().value ?? 0) % queue.length : 0;
            p.free(queue.splice(at, 1)[0]);
          });
          const grave = program.found('growth').filter(({ severity }) => severity !== 'low');
          expect(grave).toEqual([]);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('distinguishes a leak of ten steps from a warm-up', () => {
    const severities = [6, 9, 14, 60].map(
      (steps) => loop(steps, (p) => p.alloc(20, 512)).found('growth')[0]?.severity,
    );
    expect(severities[0]).toBe('low');
    expect(severities[1]).toBe('low');
    expect(severities[2]).not.toBe('low');
    expect(severities[3]).not.toBe('low');
  });

  it('sees a leak that begins in the middle, and where', () => {
    const program = loop(60, (p, step) => {
      if (step >= 30) p.alloc(20, 512);
    });
    expect(program.found('growth')[0]).toMatchObject({ perStep: { bytes: 512, steps: 30 } });
  });

  it('does not call building a model growth', () => {
    const program = new HandDrawnProgram();
    for (let layer = 0; layer < 40; layer++) {
      program.alloc(31, 4096, '__init__');
      program.alloc(32, 4096, '__init__');
    }
    expect(program.found('growth')).toEqual([]);
  });

  it.each([
    ['copies of a model that a forward method makes', true, 'kept-tensor'],
    ['what a forward method computes', false, 'kept-graph'],
  ])('%s: %s is %s', (_, isCopy, kind) => {
    const torch = '/x/site-packages/torch';
    class Nested extends HandDrawnProgram {
      override frames(line: number, name: string): Record<string, unknown>[] {
        const [own, ...callers] = super.frames(line, name);
        if (name === 'train') return [own, ...callers];
        const call = { filename: `${torch}/nn/modules/module.py`, line: 1, name: '_call_impl' };
        const copy = { filename: `${torch}/nn/parameter.py`, line: 2, name: '__deepcopy__' };
        return [...(isCopy ? [copy] : []), own, call, ...callers];
      }
    }
    const program = new Nested();
    for (let step = 0; step < 30; step++) {
      const work = program.alloc(11, 8192);
      for (let layer = 0; layer < 6; layer++) program.alloc(40 + layer, 4096, 'forward');
      program.free(work);
    }
    expect(new Set(program.found('growth').map((one) => one.kind))).toEqual(new Set([kind]));
  });

  it('cannot tell without stacks, nor from three steps', () => {
    const bare = [0, 1, 2, 3, 4, 5].map((i) => ({ action: 'alloc', addr: 512 * i, size: 512 }));
    const result = detect('growth', new AnalysisInput(contextOf(traceOf(...bare))));
    expect(result).toMatchObject({ status: 'cannot-tell' });
    expect(loop(3, () => undefined).ask('growth').status).toBe('cannot-tell');
    expect(loop(4, (p) => p.alloc(20, 512)).ask('growth').status).toBe('cannot-tell');
  });
});

describe('no-grad', () => {
  const CALL = {
    filename: '/x/site-packages/torch/nn/modules/module.py',
    line: 1,
    name: '_call_impl',
  };
  class Model extends HandDrawnProgram {
    override frames(line: number, name: string): Record<string, unknown>[] {
      const [own, ...callers] = super.frames(line, name);
      return name === 'forward' ? [own, CALL, ...callers] : [own, ...callers];
    }
  }
  /** One pass: with a graph everything stays until `end`, without one each layer's input is freed at once. */
  function pass(
    p: Model,
    hasGraph: boolean,
    end: (kept: { addr: number; size: number }[]) => void,
  ) {
    const input = p.alloc(10, 4096);
    let kept: { addr: number; size: number }[] = [];
    for (let layer = 0; layer < 16; layer++) {
      const output = p.alloc(50 + layer, 16 * MIB, 'forward');
      if (!hasGraph) for (const block of kept.splice(0)) p.free(block);
      kept = [...kept, output];
    }
    end(kept);
    p.free(input);
  }

  it.each([
    ['evaluation with a graph', true, false, 'found'],
    ['evaluation without', false, false, 'clear'],
    ['training', true, true, 'clear'],
  ] as const)('%s', (_name, hasGraph, hasBackward, status) => {
    const p = new Model();
    for (let i = 0; i < 6; i++) {
      pass(p, hasGraph, (kept) => {
        for (const block of kept) {
          if (hasBackward) p.free(p.backward(4096));
          p.free(block);
        }
      });
    }
    expect(p.ask('no-grad').status).toBe(status);
  });

  it('knows code under @torch.no_grad(), whatever a pass leaves behind', () => {
    const wrapper = {
      filename: '/x/site-packages/torch/utils/_contextlib.py',
      line: 124,
      name: 'decorate_context',
    };
    class Decorated extends Model {
      override frames(line: number, name: string): Record<string, unknown>[] {
        return [...super.frames(line, name), wrapper];
      }
    }
    const p = new Decorated();
    for (let i = 0; i < 6; i++) {
      pass(p, true, (kept) => {
        for (const block of kept) p.free(block);
      });
    }
    expect(p.ask('no-grad').status).toBe('clear');
  });
});

describe('churn', () => {
  it('sees segments that go and come', () => {
    const entries = Array.from({ length: 40 }, (_, i) => ({
      addr: 2 * MIB * (i + 1),
      size: 2 * MIB,
    }));
    const busy = entries.flatMap((segment) => [
      { action: 'segment_alloc', ...segment, frames: [] },
      { action: 'segment_free', ...segment, frames: [] },
    ]);
    const once = entries.map((segment) => ({ action: 'segment_alloc', ...segment, frames: [] }));
    expect(detect('segment-thrashing', new AnalysisInput(contextOf(traceOf(...busy)))).status).toBe(
      'found',
    );
    expect(detect('segment-thrashing', new AnalysisInput(contextOf(traceOf(...once)))).status).toBe(
      'clear',
    );
  });
});

describe('a search for an algorithm', () => {
  const conv = (line: number) => [{ name: 'forward', filename: '/home/me/model.py', line }];
  /** Each call tries a workspace and gives it back; the cache is flushed for its output, at `line`. */
  const calls = (line: number) =>
    Array.from({ length: 40 }, (_, i) => {
      const [tried, output] = [
        { addr: 64 * MIB * (2 * i + 1), size: 8 * MIB },
        { addr: 64 * MIB * (2 * i + 2), size: 2 * MIB },
      ];
      return [
        { action: 'segment_alloc', ...tried, frames: conv(7) },
        { action: 'alloc', ...tried, frames: conv(7) },
        { action: 'free_requested', ...tried, frames: conv(7) },
        { action: 'free_completed', ...tried, frames: conv(7) },
        { action: 'segment_free', ...tried, frames: conv(line) },
        { action: 'segment_alloc', ...output, frames: conv(line) },
        { action: 'alloc', ...output, frames: conv(line) },
      ];
    }).flat();
  const statusOf = (line: number) =>
    detect('segment-thrashing', new AnalysisInput(contextOf(traceOf(...calls(line))))).status;

  it('is no thrashing within one call, but is between two', () => {
    expect([statusOf(7), statusOf(8)]).toEqual(['clear', 'found']);
  });

  it('is no need of the program, in the backward pass without a stack either', () => {
    const block = (size: number, addr: number, frames: readonly object[]) => {
      const one = { addr, size: size * MIB, frames };
      return ['segment_alloc', 'alloc', 'free_requested', 'free_completed', 'segment_free'].map(
        (action) => ({ action, ...one }),
      );
    };
    const [reserved, kept] = block(100, 64 * MIB, conv(3));
    const scratch = block(40, 4096 * MIB, []).slice(0, 4);
    const events = [reserved, kept, ...block(500, 1024 * MIB, []), ...scratch];
    const context = new AnalysisInput(contextOf(traceOf(...events)));
    // The 500 MiB are flushed at once, and the 40 MiB stay in the cache.
    expect(peakBesideTrials(context)).toBe(events.indexOf(scratch[1]));
  });
});

describe('fragmentation', () => {
  it('cannot tell what needed the memory that was reserved before the recording', () => {
    const address = 0x7f0000000000;
    const segment = {
      device: 0,
      address,
      total_size: 1024 * MIB,
      stream: 0,
      segment_type: 'large',
      allocated_size: 0,
      active_size: 0,
      blocks: [{ address, size: 1024 * MIB, requested_size: 0, state: 'inactive' }],
    };
    const block = { addr: address, size: 64 * MIB, frames: [] };
    const entries = [
      { action: 'alloc', ...block },
      { action: 'free_requested', ...block },
      { action: 'free_completed', ...block },
    ];
    const ask = (...trace: readonly Record<string, unknown>[]) => {
      const recorded = traceOf(...trace) as Record<string, unknown>;
      return detect(
        'fragmentation',
        new AnalysisInput(contextOf({ ...recorded, segments: [segment] })),
      );
    };
    expect(ask(...entries)).toEqual({
      status: 'cannot-tell',
      reason: expect.stringContaining('1.00 GiB was already reserved by then'),
    });
    // Allocated during the recording, so it is known that 64 MiB needed it.
    const taken = { action: 'segment_alloc', addr: address, size: 1024 * MIB, frames: [] };
    expect(ask(taken, ...entries).status).toBe('found');
  });

  /** A weight in a segment of `room` bytes that it does not fill, then a tensor that is copied into a larger one. */
  function growingCopies(room: number): Finding {
    const program = new HandDrawnProgram();
    const segment = (size: number) =>
      program.entries.push({ action: 'segment_alloc', addr: program.next, size, frames: [] });
    segment(room);
    program.alloc(5, 2 * MIB);
    program.skip(room - 2 * MIB);
    let latest: { addr: number; size: number } | undefined;
    for (let copy = 1; copy <= 30; copy++) {
      segment(copy * 20 * MIB);
      const grown = program.alloc(20, copy * 20 * MIB);
      if (latest !== undefined) program.free(latest);
      latest = grown;
    }
    const [finding] = program.found('fragmentation');
    expect(finding.kind).toBe('reserved-unused');
    return finding;
  }

  it('blames varying sizes, not blocks that pin next to nothing', () => {
    const finding = growingCopies(20 * MIB);
    expect(finding.frame?.line).toBe(20);
    expect(finding.claim).toContain(
      'train.py:20 (train) asked for 30 different sizes from 20.00 MiB to 600.00 MiB',
    );
    expect(finding.advice[0]).toContain('expandable_segments:True');
    expect(finding.parts[0].note).toBe('different sizes requested, the largest shown');
    expect(finding.evidence.allocations.length).toBe(30);
  });

  it('blames pinning blocks if they explain most of it', () => {
    const finding = growingCopies(12_000 * MIB);
    expect(finding.frame?.line).toBe(5);
    expect(finding.claim).toContain('1 block of it keeps 11.72 GiB');
  });
});

describe('pending-free', () => {
  it('cannot tell if free_requested was not recorded', () => {
    const entries = [
      { action: 'alloc', addr: 512, size: 512, frames: [] },
      { action: 'free_completed', addr: 512, size: 512, frames: [] },
    ];
    expect(detect('pending-free', new AnalysisInput(contextOf(traceOf(...entries)))).status).toBe(
      'cannot-tell',
    );
  });
});

describe('analyse', () => {
  const program = loop(30, (p) => p.alloc(20, 512));
  const context = contextOf(traceOf(...program.entries));

  it('reports findings as they come, and each check after them', async () => {
    const seen: string[] = [];
    const { checks, findings } = await analyse(context, {
      onFinding: ({ detector }) => seen.push(`finding ${detector}`),
      onCheck: ({ detector }) => seen.push(`check ${detector}`),
    });
    expect(seen.slice(0, 2)).toEqual(['finding growth', 'check growth']);
    expect(checks.map(({ detector }) => detector)).toEqual(DETECTOR_IDS);
    expect(findings[0].detector).toBe('growth');
  });

  it('stops when cancelled', async () => {
    const checks: string[] = [];
    const options = {
      onCheck: ({ detector }: { detector: string }) => checks.push(detector),
      pause: async () => {
        if (checks.length >= 2) throw abortError('Cancelled');
      },
    };
    await expect(analyse(context, options)).rejects.toSatisfy(isAbortError);
    expect(checks).toHaveLength(2);
  });

  it('gives plain data that can cross to another thread', async () => {
    const { findings } = await analyse(context);
    expect(structuredClone(findings)).toEqual(findings);
  });

  it('gives the same fingerprint at other addresses', async () => {
    const moved = program.entries.map((entry) => ({
      ...entry,
      addr: Number(entry.addr) + 2 ** 30,
    }));
    const [a] = (await analyse(context)).findings;
    const [b] = (await analyse(contextOf(traceOf(...moved)))).findings;
    expect(b.fingerprint).toBe(a.fingerprint);
  });
});

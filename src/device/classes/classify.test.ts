/** Classes of recorded programs, and the rules that each program demonstrates. */
import { describe, expect, it } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import { labeledRuns } from '../../testing/class-truth.ts';
import { contextOf, contextsOf, traceOf } from '../../testing/contexts.ts';
import { classify, classTotalsAt } from './classify.ts';
import {
  EVIDENCE_TEXTS,
  Evidence,
  MEMORY_CLASS_ORDER,
  MEMORY_CLASSES,
  MemoryClass,
} from './types.ts';

const MiB = 2 ** 20;

function peakOf(name: string): Readonly<Record<string, number>> {
  const [context] = contextsOf(loadCapture(`${name}.pickle.gz`));
  const totals = classTotalsAt(context, context.replay.peaks.allocatedBytes.event, true);
  const sum = totals.reduce((bytes, total) => bytes + total.bytes, 0);
  expect(sum).toBe(context.replay.peaks.allocatedBytes.bytes);
  return Object.fromEntries(
    totals.map((total) => [MEMORY_CLASSES[total.class].id, total.bytes / MiB]),
  );
}

it('every class has names and a place in lists, and every evidence has a text', () => {
  const all = Object.values(MemoryClass);
  expect(MEMORY_CLASSES).toHaveLength(all.length);
  expect([...MEMORY_CLASS_ORDER].sort((a, b) => a - b)).toEqual(all);
  expect(EVIDENCE_TEXTS).toHaveLength(Object.values(Evidence).length);
});

describe('the peak of a small GPT', () => {
  // The model has 131.2 MiB of parameters; AdamW keeps two tensors of each size.
  it.each(['train_gpt_small', 'train_gpt_checkpoint', 'train_gpt_amp'])('%s', (name) => {
    const peak = peakOf(name);
    expect(peak.parameters).toBeCloseTo(131.2, 0);
    // Blocks reused from other tensors are a little larger.
    expect(peak['optimizer-state']).toBeGreaterThan(261);
    expect(peak['optimizer-state']).toBeLessThan(275);
    expect(peak.workspaces).toBeGreaterThanOrEqual(64);
    expect(peak.unknown ?? 0).toBe(0);
  });
});

describe('copies', () => {
  const copiesIn = (name: string) => {
    const [context] = contextsOf(loadCapture(`${name}.pickle.gz`));
    const { classOf, copies } = classify(context);
    const { sizeBytes } = context.replay.allocations;
    const bytes = new Map<string, number>();
    for (const [id, copy] of copies) {
      const key = `${MEMORY_CLASSES[classOf[id]].id} ${copy}`;
      bytes.set(key, (bytes.get(key) ?? 0) + sizeBytes[id] / MiB);
    }
    return Object.fromEntries(bytes);
  };

  it('of a model include its averages, made before training or later', () => {
    expect(copiesIn('classes/kept.python')).toEqual({ 'parameters 1': expect.closeTo(58.1, 0) });
    expect(copiesIn('pairs/ema_from_step_6.all')).toEqual({
      'parameters 1': expect.closeTo(16, 0),
    });
    expect(copiesIn('near-miss/timm_amp_ema')).toEqual({ 'parameters 1': expect.closeTo(44.5, 0) });
  });

  it('of optimizer state are those of older optimizers that were kept', () => {
    const copies = Object.entries(copiesIn('pairs/optimizers_kept.python'));
    expect(copies.slice(0, 2)).toEqual([
      ['optimizer-state 1', expect.closeTo(32, 0)],
      ['optimizer-state 2', expect.closeTo(32, 0)],
    ]);
  });

  it.each(['train_hf_gpt2', 'train_resnet', 'classes/gan.python', 'classes/lora.python'])(
    'are not found in %s, where layers have the same sizes',
    (name) => {
      expect(copiesIn(name)).toEqual({});
    },
  );
});

it.each(['oom_observer', 'pairs/oom_larger_batch.python', 'pairs/oom_eval_no_grad.all'])(
  '%s has activations of 32 MiB, and one workspace per thread',
  (name) => {
    expect(peakOf(name).workspaces).toBe(65);
  },
);

describe('what the program wrote', () => {
  const stack = [{ name: 'f', filename: '/home/me/a.py', line: 1 }];
  const alloc = (addr: number, more: object = {}) => {
    return { action: 'alloc', addr, size: 512, frames: stack, ...more };
  };

  it('takes precedence, and the last label wins', () => {
    const context = contextOf(
      traceOf(
        alloc(512, { user_metadata: 'parameters: head.weight' }),
        alloc(1024, { category: 'GRADIENT' }),
        alloc(2048, { user_metadata: 'step 3 of the gradient test' }),
        alloc(4096, { user_metadata: 'inputs' }),
        {
          action: 'annotate',
          addr: 4096,
          size: 0,
          user_metadata: 'optimizer: exp_avg',
          frames: [],
        },
      ),
    );
    const { classOf, evidenceOf } = classify(context);
    const { Parameters, Gradients, Inputs, OptimizerState } = MemoryClass;
    expect([...classOf]).toEqual([Parameters, Gradients, Inputs, OptimizerState]);
    expect(evidenceOf[0]).toBe(Evidence.Metadata);
    expect(evidenceOf[1]).toBe(Evidence.Category);
  });
});

/** The program labeled each tensor in a separate run; the recordings contain no labels. */
describe('labeled runs', () => {
  it.each(labeledRuns())('$name: nearly all bytes have the right class', (run) => {
    const { peakShare, timeShare } = run;
    expect(peakShare).toBeGreaterThanOrEqual(0.95);
    expect(timeShare).toBeGreaterThanOrEqual(0.9);
  });
});

/** What led to an OOM and what did not, in programs recorded with Python stacks and with all stacks. */
import { describe, expect, it } from 'vitest';
import { analysisOf } from '../../testing/analysed.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import type { Analysis } from './analyse.ts';
import type { DetectorId, Finding } from './detectors.ts';

function analysed(name: string): Promise<Analysis> {
  const [context] = contextsOf(loadCapture(`pairs/${name}.pickle.gz`));
  return analysisOf(context);
}

const BOTH = ['python', 'all'];

async function findings(name: string, detector: DetectorId): Promise<readonly Finding[]> {
  const all = (await analysed(name)).findings;
  return all.filter((finding) => finding.detector === detector);
}

async function checked(name: string, detector: DetectorId): Promise<string | undefined> {
  const { checks } = await analysed(name);
  return checks.find((check) => check.detector === detector)?.reason;
}

describe.each(BOTH)('graphs without backward, stacks=%s', (stacks) => {
  it.each([
    // The evaluation's first pass runs out of memory; all earlier passes, from another line, had a backward.
    ['oom_eval_no_grad', 'high', 'graph-at-oom', 579, / the forward pass at capture\.py:579 /],
    // Eight passes succeeded, and the ninth ran out of memory.
    [
      'oom_eval_ninth_pass',
      'high',
      'graph-without-backward',
      588,
      /^9 forward passes at capture\.py:588 /,
    ],
    [
      'eval_between_epochs',
      'low',
      'graph-without-backward',
      547,
      /^8 forward passes at capture\.py:547 /,
    ],
    ['eval_without_no_grad', 'low', 'graph-without-backward', 532, /^6 forward passes /],
  ])('%s: %s, %s at line %d', async (name, severity, kind, line, claim) => {
    const found = await findings(`${name}.${stacks}`, 'no-grad');
    expect(found).toMatchObject([{ kind, severity, frame: { line } }]);
    expect(found[0].claim).toMatch(claim);
    expect(found[0].advice[0]).toMatch(/^Run evaluation and inference under torch\.inference_mode/);
  });

  it.each([
    // Each graph is kept, and each had its backward: logits that a loss frees before it are not evidence.
    [
      'leak_loss_graph',
      '16 calls of modules from your code with 8 allocations or more: 16 kept a graph that is still there at the end, with or without a backward. Graphs that stay after it are told as growth.',
    ],
    [
      'experts_skewed',
      '14 calls of modules from your code with 8 allocations or more: 14 kept a graph until a backward came.',
    ],
    [
      'oom_larger_batch',
      '4 calls of modules from your code with 8 allocations or more: 4 kept a graph until a backward came.',
    ],
    [
      'eval_inference_mode',
      expect.stringMatching(
        /^\d+ calls of modules from your code with 8 allocations or more: \d+ kept no graph/,
      ),
    ],
    [
      'oom_caught_and_halved',
      '6 calls of modules from your code with 8 allocations or more: 4 kept a graph until a backward came, 2 ran out of memory, with or without a backward to come.',
    ],
    ['oom_first_forward', 'The recording breaks off in its only forward pass.'],
  ])('%s: none, and why', async (name, reason) => {
    expect(await findings(`${name}.${stacks}`, 'no-grad')).toEqual([]);
    expect(await checked(`${name}.${stacks}`, 'no-grad')).toEqual(reason);
  });
});

describe.each(BOTH)('an OOM, stacks=%s', (stacks) => {
  it.each(['oom_first_forward', 'oom_larger_batch', 'oom_caught_and_halved'])(
    '%s: mentions neither a leak nor a missing no_grad',
    async (name) => {
      const { findings: all } = await analysed(`${name}.${stacks}`);
      const grave = all.filter(({ severity }) => severity !== 'low');
      expect(new Set(grave.map(({ detector }) => detector))).toEqual(new Set(['oom']));
    },
  );

  it.each([
    ['oom_logits_backward', 601],
    ['oom_larger_batch', 93],
    ['oom_other_process', 93],
  ])('%s failed in backward: line %d made a tensor of that size', async (name, line) => {
    const [oom] = await findings(`${name}.${stacks}`, 'oom');
    expect(oom.frame).toMatchObject({ line });
    expect(oom.claim).toContain('in the forward pass it made a tensor of exactly that size');
  });

  it('reports a batch that grew, but not if there were no earlier batches', async () => {
    const { verdict } = await analysed(`oom_larger_batch.${stacks}`);
    expect(verdict.text).toContain(
      '500.00 MiB was requested where at most 250.00 MiB was (2.0 times)',
    );
    for (const name of ['oom_first_forward', 'oom_logits_backward', 'oom_leak']) {
      const { verdict: other } = await analysed(`${name}.${stacks}`);
      expect(other.pattern).not.toBe('larger-batch');
    }
  });
});

it('evidence lists the largest allocation of the named line first', async () => {
  const [context] = contextsOf(loadCapture('pairs/frag_varlen.python.pickle.gz'));
  const [{ evidence, frame }] = await findings('frag_varlen.python', 'fragmentation');
  const { sizeBytes, stack } = context.replay.allocations;
  const ids = [...evidence.allocations];
  const sizes = ids.map((id) => sizeBytes[id]);
  expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
  expect(sizes[0]).toBeGreaterThan(sizes.at(-1) ?? 0);
  const lines = ids.map((id) => context.stacks.topUserFrameView(stack[id])?.line);
  expect(new Set(lines)).toEqual(new Set([frame?.line]));
});

/** What led to an OOM, and what did not: of programs recorded with Python stacks and with all stacks. */
import { describe, expect, it } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { type Analysis, analyse } from './analyse.ts';
import type { DetectorId, Finding } from './detectors.ts';
import { verdictOf } from './verdict.ts';

const known = new Map<string, Promise<Analysis>>();

function analysed(name: string): Promise<Analysis> {
  const before = known.get(name);
  if (before !== undefined) return before;
  const [context] = contextsOf(loadCapture(`pairs/${name}.pickle.gz`));
  const analysis = analyse(context);
  known.set(name, analysis);
  return analysis;
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
    // The first pass of the evaluation runs out; all earlier ones, of another line, had a backward.
    ['oom_eval_no_grad', 'evaluation-ran-out', 579, / the forward pass at capture\.py:579 /],
    // Eight passes went well, and the ninth ran out.
    ['oom_eval_ninth_pass', 'graph-without-backward', 588, /^9 forward passes at capture\.py:588 /],
    ['eval_between_epochs', 'graph-without-backward', 547, /^8 forward passes at capture\.py:547 /],
    ['eval_without_no_grad', 'graph-without-backward', 532, /^6 forward passes /],
    ['leak_output_list', 'graph-without-backward', 328, /^20 forward passes /],
  ])('%s: %s at line %d', async (name, kind, line, claim) => {
    const found = await findings(`${name}.${stacks}`, 'no-grad');
    expect(found).toMatchObject([{ kind, frame: { line }, severity: 'high' }]);
    expect(found[0].claim).toMatch(claim);
    expect(found[0].advice[0]).toMatch(/^Run evaluation and inference under torch\.inference_mode/);
    const ooms = await findings(`${name}.${stacks}`, 'oom');
    expect(found[0].causedOom).toBe(ooms.at(-1)?.events.last);
  });

  it.each([
    // Each graph is kept, and each had its backward: the logits that a loss frees before it are no sign.
    ['leak_loss_graph', '16 forward passes: 16 kept a graph that backward used.'],
    ['experts_skewed', '14 forward passes: 14 kept a graph that backward used.'],
    ['oom_larger_batch', '4 forward passes: 4 kept a graph that backward used.'],
    ['eval_inference_mode', expect.stringMatching(/^\d+ forward passes: \d+ kept no graph/)],
    [
      'oom_caught_and_halved',
      '6 forward passes: 4 kept a graph that backward used, 2 ran out of memory before a backward could come.',
    ],
    ['oom_first_forward', 'The recording breaks off in its only forward pass.'],
  ])('%s: none, and why', async (name, reason) => {
    expect(await findings(`${name}.${stacks}`, 'no-grad')).toEqual([]);
    expect(await checked(`${name}.${stacks}`, 'no-grad')).toEqual(reason);
  });
});

/** First words of the verdict, what it is about first, and the first advice. */
describe.each(BOTH)('the verdict leads with the cause, stacks=%s', (stacks) => {
  it.each([
    [
      'oom_leak',
      /^Out of memory after 41 steps because capture\.py:613 \(oom_leak\) keeps 96\.00 MiB .*; without that the run needs about 2\d\d\.\d\d MiB\.$/,
      'growth',
      /^Store tensor\.detach\(\)\.cpu\(\)/,
    ],
    [
      'oom_eval_no_grad',
      /^Out of memory in what looks like an evaluation without torch\.inference_mode\(\): the forward pass at capture\.py:579 /,
      'no-grad',
      /^Run evaluation and inference under torch\.inference_mode\(\)/,
    ],
    [
      'oom_eval_ninth_pass',
      /^Out of memory because 9 forward passes at capture\.py:588 /,
      'no-grad',
      /^Run evaluation and inference under torch\.inference_mode\(\)/,
    ],
    [
      'kept_exceptions',
      /^12 caught OOMs left 112\.00 MiB each from capture\.py:399 \(similarity\) behind, 1\.31 GiB in all: most likely the exceptions are stored\.$/,
      'oom',
      /^Store str\(error\) or traceback\.format_exc\(\) instead of the exception/,
    ],
    [
      'oom_logits_backward',
      /^Out of memory: one request of 2\.00 GiB, which is 30% of all that would have been in use/,
      'oom',
      /fused or chunked cross-entropy/,
    ],
    [
      'oom_fragmented',
      /^Out of memory because the memory is fragmented: /,
      'oom',
      /^Set PYTORCH_ALLOC_CONF=expandable_segments:True/,
    ],
    [
      'oom_other_process',
      /^Out of memory because something else uses the GPU too: .* other processes hold the rest/,
      'oom',
      /^Run nvidia-smi/,
    ],
    [
      'oom_caught_and_halved',
      /^Memory ran out 2 times, and the program caught it and went on\. The last time: capture\.py:93 /,
      'oom',
      /^Raise or remove/,
    ],
    [
      'oom_first_forward',
      /^Out of memory at your process's own limit of about 1\.9 GiB .*: 1\.93 GiB of the 1\.94 GiB /,
      'oom',
      /^Raise or remove/,
    ],
    [
      'oom_larger_batch',
      /^Out of memory at your process's own limit of about 4 GiB .*: 3\.57 GiB of the 3\.89 GiB /,
      'oom',
      /^Look at what capture\.py:93 \(lm_loss\) was given in this step: the request is 2\.0 times the largest before/,
    ],
    [
      'growing_concat',
      /^No out-of-memory error in this file, but:$/,
      'fragmentation',
      /^Allocate the full size once/,
    ],
    [
      'kv_cache_generate',
      /^No out-of-memory error in this file, but:$/,
      'fragmentation',
      /^Allocate the full size once/,
    ],
  ])('%s: %s', async (name, text, detector, advice) => {
    const verdict = verdictOf(await analysed(`${name}.${stacks}`));
    expect(verdict?.text).toMatch(text);
    expect(verdict?.findings[0].detector).toBe(detector);
    expect(verdict?.advice[0]).toMatch(advice);
    expect(verdict?.also.length).toBeLessThanOrEqual(2);
  });

  it.each(['oom_first_forward', 'oom_larger_batch', 'oom_caught_and_halved'])(
    '%s: nothing of a leak or of a missing no_grad',
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

  it('a batch that grew is said, and nothing of the kind where none came before', async () => {
    const said =
      'In 9 calls before, that line asked for at most 250.00 MiB, so this batch or sequence is larger (2.0 times).';
    const [grew] = await findings(`oom_larger_batch.${stacks}`, 'oom');
    expect(grew.holder).toContain(said);
    for (const name of [
      'oom_first_forward',
      'oom_logits_backward',
      'oom_other_process',
      'oom_leak',
    ]) {
      const [other] = await findings(`${name}.${stacks}`, 'oom');
      expect(other.holder).not.toContain('calls before');
    }
  });

  it('of the gaps a growing concatenation is the cause, and it is said once', async () => {
    const verdict = verdictOf(await analysed(`growing_concat.${stacks}`));
    expect(verdict?.findings.map(({ kind }) => kind)).toEqual(['reserved-unused']);
    expect(verdict?.also).toEqual([
      expect.stringMatching(/capture\.py:453 \(growing_concat\) grows a tensor by copying it/),
    ]);
    const grave = await findings(`growing_concat.${stacks}`, 'fragmentation');
    expect(grave.map(({ kind, severity }) => [kind, severity])).toEqual([
      ['reserved-unused', 'high'],
      ['growing-concatenation', 'high'],
    ]);
  });
});

it('evidence lists the largest allocation first, and that of the line which is named', async () => {
  const [context] = contextsOf(loadCapture('pairs/frag_varlen.python.pickle.gz'));
  const [{ evidence, frame }] = await findings('frag_varlen.python', 'fragmentation');
  const { sizeBytes, stack } = context.replay.allocations;
  const sizes = evidence.allocations.map((id) => sizeBytes[id]);
  expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
  expect(sizes[0]).toBeGreaterThan(sizes.at(-1) ?? 0);
  const lines = evidence.allocations.map((id) => context.stacks.topUserFrameView(stack[id])?.line);
  expect(new Set(lines)).toEqual(new Set([frame?.line]));
});

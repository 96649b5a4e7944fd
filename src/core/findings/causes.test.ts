/** What led to an OOM, and what did not: of programs recorded with Python stacks and with all stacks. */
import { describe, expect, it } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { type Analysis, analyse } from './analyse.ts';
import type { DetectorId, Finding } from './detectors.ts';

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
    ['oom_eval_no_grad', 'evaluation-ran-out', 579, /^The forward pass at capture\.py:579 /],
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

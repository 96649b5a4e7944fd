/** What the growth detector says about recorded programs: which line, what it does, and the law of growth. */
import { describe, expect, it } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { detect } from '../findings/analyse.ts';
import { AnalysisInput } from '../findings/analysis-input.ts';
import type { Finding } from '../findings/detectors.ts';

function growthOf(name: string): readonly Finding[] {
  const [context] = contextsOf(loadCapture(`${name}.pickle.gz`));
  const result = detect('growth', new AnalysisInput(context));
  return result.status === 'found' ? result.findings : [];
}

function theOnly(name: string): Finding {
  const [finding, ...more] = growthOf(name);
  expect(more).toEqual([]);
  return finding;
}

const factOf = ({ facts }: Finding, start: string) =>
  facts.find(({ label }) => label.startsWith(start));

describe('the line to edit', () => {
  // capture, kind, line, what it does, it and the lines that lead to it from their loop, law
  it.each([
    ['leak_loss_graph', 'kept-graph', 319, 'stored at', [319], 'flat'],
    ['leak_output_list', 'kept-graph', 328, 'allocated at', [328], 'flat'],
    ['leak_forward_hook', 'kept-hook', 338, 'allocated at', [338, 79, 105, 97, 341], 'flat'],
    ['leak_lightning_outputs', 'kept-output', 203, 'allocated at', [203, 193, 360], 'flat'],
    ['leak_hf_trainer', 'kept-output', 370, 'allocated at', [370, 378], 'flat'],
    ['optimizers_kept', 'kept-optimizer', 388, 'started at', [388], 'in-bursts'],
    ['kept_exceptions', 'kept-tensor', 399, 'allocated at', [399, 411], 'flat'],
    ['lru_cache_by_key', 'kept-tensor', 422, 'allocated at', [422, 432], 'by-key'],
    ['leak_growing_pieces', 'kept-tensor', 443, 'allocated at', [443], 'growing'],
    ['oom_leak', 'kept-tensor', 613, 'allocated at', [613], 'flat'],
  ])('%s: %s at line %d', (name, kind, line, frameIs, lines, law) => {
    for (const stacks of ['python', 'all']) {
      const finding = theOnly(`pairs/${name}.${stacks}`);
      expect(finding).toMatchObject({ kind, frame: { line }, frameIs, law });
      const own = finding.userLines.filter(({ name }) => !/^(capture|<module>)$/.test(name));
      expect(own.map(({ line }) => line)).toEqual(lines);
    }
  });

  it('of kept gradients is unknown, and none is shown', () => {
    const finding = theOnly('pairs/leak_gradients.python');
    expect(finding).toMatchObject({ kind: 'kept-gradients', frame: undefined, userLines: [] });
    expect(finding.frameIs).toBeUndefined();
  });

  it('comes with the one that makes a kept graph', () => {
    const finding = theOnly('pairs/leak_loss_graph.python');
    expect(finding.claim).toMatch(/tensors from capture\.py:319 \(leak_loss_graph\) is kept, /);
    expect(factOf(finding, 'allocated at')).toMatchObject({ text: 'capture.py:92 (lm_loss)' });
  });
});

describe('the law of growth', () => {
  it('is reported for growing pieces, a cache by key, and equal pieces in every step', () => {
    const [pieces, cache, flat] = [
      'leak_growing_pieces',
      'lru_cache_by_key',
      'leak_forward_hook',
    ].map((name) => theOnly(`pairs/${name}.python`));
    expect(pieces.claim).toMatch(/by more each time: 512\.00 KiB at first, 22\.00 MiB at last\.$/);
    expect(cache.claim).toMatch(
      / in 32 tensors from capture\.py:422 \(attention_bias\) is kept,.* one piece for each new key, .*: 32 sizes, 512\.00 KiB to 24\.00 MiB\.$/,
    );
    expect(cache.perStep?.steps).toBe(48);
    expect(cache.advice[0]).toContain('lru_cache(maxsize');
    expect(flat.claim).toContain(
      '(save_features) is kept, 8.00 MiB more each step, and all of it is still there',
    );
  });

  it('recognizes a stored exception by the OOMs in between', () => {
    const finding = theOnly('pairs/kept_exceptions.python');
    expect(finding).toMatchObject({ pattern: 'kept-exceptions', severity: 'high' });
    expect(finding.advice[0]).toContain('str(error)');
    expect(theOnly('pairs/oom_leak.python').pattern).toBeUndefined();
  });
});

it('says what a step is in what a ring has left', () => {
  const [context] = contextsOf(loadCapture('near-miss/replay_buffer.pickle.gz'));
  expect(detect('growth', new AnalysisInput(context))).toMatchObject({
    status: 'cannot-tell',
    reason: expect.stringMatching(
      /In what is left, no line has a growing number of live tensors \(\d+ steps, from the .+\), but slow growth before that cannot be seen\.$/,
    ),
  });
});

it('says how many of the tensors no recorded step made', () => {
  const finding = theOnly('near-miss/leak_ring_truncated');
  expect(finding.claim).toMatch(
    /^5\.00 MiB in 80 tensors \(42 of them from before the oldest recorded event\) from capture\.py:351 /,
  );
});

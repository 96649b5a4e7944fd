/** What growth says of recorded programs: which line, what that line does, and by which law. */
import { describe, expect, it } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { detect } from '../findings/analyse.ts';
import { AnalysisInput } from '../findings/analysis-input.ts';
import type { Finding } from '../findings/detectors.ts';

const MIB = 2 ** 20;

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
  // capture, kind, line, what it does, the user's lines from the innermost to their loop, law
  it.each([
    ['leak_loss_graph', 'kept-graph', 319, 'stored at', [319], 'flat'],
    ['leak_output_list', 'kept-graph', 328, 'allocated at', [69, 328], 'flat'],
    ['leak_forward_hook', 'kept-hook', 338, 'allocated at', [338, 79, 105, 97, 341], 'flat'],
    ['leak_lightning_outputs', 'kept-output', 203, 'allocated at', [79, 203, 193, 360], 'flat'],
    ['leak_hf_trainer', 'kept-output', 370, 'allocated at', [370, 378], 'flat'],
    ['optimizers_kept', 'kept-optimizer', 388, 'started at', [99, 395, 388], 'in-bursts'],
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

  it('of gradients is not known, and none is shown', () => {
    const finding = theOnly('pairs/leak_gradients.python');
    expect(finding).toMatchObject({ kind: 'kept-gradients', frame: undefined, userLines: [] });
    expect(finding.frameIs).toBeUndefined();
  });

  it('is told with the one where a kept graph is made', () => {
    expect(theOnly('pairs/leak_loss_graph.python').claim).toContain(
      'allocated at capture.py:92 (lm_loss), probably held by capture.py:319 (leak_loss_graph)',
    );
  });
});

describe('the law of growth', () => {
  it('says of growing pieces that each step keeps more, and what more steps would cost by that law', () => {
    const finding = theOnly('pairs/leak_growing_pieces.python');
    expect(finding.claim).toMatch(
      /every step, and more each time: 512\.00 KiB at first, 22\.00 MiB at last/,
    );
    const cost = factOf(finding, 'cost of 1,000 more steps');
    expect(cost?.label).toMatch(/if each keeps .+ more than the one before$/);
    // Not the mean of 7 MiB times 1,000: it goes on rising.
    expect(cost).toHaveProperty('bytes', expect.any(Number));
    expect((cost as { bytes: number }).bytes).toBeGreaterThan(400_000 * MIB);
  });

  it('says of a cache how many keys it has, and counts the steps of the recording', () => {
    const finding = theOnly('pairs/lru_cache_by_key.python');
    expect(finding.claim).toContain(
      'capture.py:422 (attention_bias) fills a cache that only grows: 32 tensors of 32 different sizes, 512.00 KiB to 24.00 MiB, one for each new key.',
    );
    expect(finding.perStep?.steps).toBe(48);
    expect(finding.advice[0]).toContain('lru_cache(maxsize');
    expect(factOf(finding, 'cost of 1,000 more steps')).toBeUndefined();
    expect(factOf(finding, 'cost of 1,000 more keys')).toBeDefined();
  });

  it('says of flat growth that each step keeps as much', () => {
    const finding = theOnly('pairs/leak_forward_hook.python');
    expect(finding.claim).toContain('keeps 8.00 MiB in 1 tensor every step.');
    expect(factOf(finding, 'cost of 1,000 more steps, if each keeps as much')).toMatchObject({
      bytes: 8000 * MIB,
    });
  });

  it('knows a stored exception by the OOMs in between', () => {
    const finding = theOnly('pairs/kept_exceptions.python');
    expect(finding.claim).toContain('a stored exception keeps them');
    expect(finding.advice[0]).toContain('str(error)');
    expect(theOnly('pairs/oom_leak.python').claim).not.toContain('exception');
  });
});

describe('what is searched for', () => {
  it('is a line that all of the evidence has, where the finding leads with another', () => {
    const [context] = contextsOf(loadCapture('pairs/leak_loss_graph.python.pickle.gz'));
    const { searchFrame, evidence, frame } = theOnly('pairs/leak_loss_graph.python');
    expect(frame?.line).toBe(319);
    expect(searchFrame?.line).toBe(316);
    const { stack } = context.replay.allocations;
    for (const id of evidence.allocations) {
      const lines = context.stacks.view(stack[id]).frames.map(({ line }) => line);
      expect(lines).toContain(316);
    }
  });
});

/** Programs recorded twice: with Python stacks, and with PyTorch's default, which includes C++ frames. */
import { describe, expect, it } from 'vitest';
import { EMPTY_STACK } from '../../format/snapshot/tables.ts';
import { analysisOf } from '../../testing/analysed.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextOf, contextsOf, traceOf } from '../../testing/contexts.ts';
import { withPythonStacks } from './analysis-input.ts';
import type { Finding } from './detectors.ts';

async function findingsOf(name: string): Promise<readonly Finding[]> {
  const [context] = contextsOf(loadCapture(`${name}.pickle.gz`));
  return (await analysisOf(context)).findings;
}

const seen = ({ detector, kind, severity, frame, claim }: Finding) => ({
  detector,
  kind,
  severity,
  line: frame?.line,
  function: frame?.name,
  claim,
});

describe('findings', () => {
  it.each(['leak_loss_graph', 'oom_batch_too_big', 'frag_gpt_varlen', 'eval_without_no_grad'])(
    'are the same for %s',
    async (name) => {
      const python = (await findingsOf(name)).map(seen);
      const all = (await findingsOf(`default_stacks/${name}`)).map(seen);
      expect(python.length).toBeGreaterThan(0);
      expect(all.map(({ claim, ...rest }) => rest)).toEqual(
        python.map(({ claim, ...rest }) => rest),
      );
      for (const { claim } of all) expect(claim).not.toMatch(/\?\?|std::|at::|tmpxft/);
    },
  );
});

describe('stacks without C++', () => {
  it('have the Python frames that were recorded, in order', () => {
    const [context] = contextsOf(loadCapture('default_stacks/leak_loss_graph.pickle.gz'));
    const input = withPythonStacks(context);
    const recorded = context.replay.allocations.stack;
    const projected = input.replay.allocations.stack;
    const places = new Set<string>();
    for (let id = 0; id < recorded.length; id += 7) {
      const own = [...context.stacks.frames(recorded[id])];
      const python = own.filter((frame) => context.stacks.isPython(frame));
      expect([...input.stacks.frames(projected[id])]).toEqual(python);
      if (python.length === 0) expect(projected[id]).toBe(EMPTY_STACK);
      places.add(python.join());
    }
    expect(places.size).toBeGreaterThan(10);
    expect(input.snapshot.stacks.length).toBeLessThan(context.snapshot.stacks.length);
  });

  it('lack frames of TorchScript that are outside of what calls them', () => {
    const frame = (filename: string, name: string, line: number) => ({ filename, name, line });
    const cpp = frame('??', 'at::native::tanh', 0);
    const path = [frame('/x/glow.py', 'forward', 163), frame('/x/train.py', 'train', 128)];
    const main = frame('/x/train.py', '<module>', 193);
    const scripted = frame('/x/glow.py', 'fused', 36);
    const alloc = (addr: number, frames: readonly unknown[]) => ({
      action: 'alloc',
      addr,
      size: 512,
      frames,
    });
    const context = contextOf(
      traceOf(alloc(512, [cpp, ...path, main]), alloc(1024, [cpp, ...path, scripted, main])),
    );
    const [own, other] = withPythonStacks(context).replay.allocations.stack;
    expect(other).toBe(own);
    const [site, otherSite] = [...context.replay.allocations.stack].map(context.stacks.siteOf);
    expect(otherSite).toBe(site);
  });

  it('are unchanged if all frames are Python', () => {
    const [python] = contextsOf(loadCapture('leak_loss_graph.pickle.gz'));
    expect(withPythonStacks(python)).toBe(python);
  });
});

import { describe, expect, it } from 'vitest';
import { analysisOf } from '../../testing/analysed.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { judgeOom } from './oom-verdict.ts';

const GIB = 2 ** 30;
const FULL = { requestedBytes: 2 * GIB, allocatedBytes: 9.5 * GIB, reservedBytes: 10 * GIB };

describe('what was missing', () => {
  it('is at most what the highest level so far leaves, if the limit of the process is unknown', () => {
    const judged = judgeOom({ ...FULL, freeBytes: 40 * GIB, peakReservedBytes: 10.5 * GIB });
    expect(judged).toMatchObject({ missingBytes: GIB, isMissingAtMost: true, hadRoom: true });
    expect(judged.text).toContain(
      'At most 1.50 GiB was missing, at most 1.00 GiB if all gaps were one piece.',
    );
    expect(judged.arithmetic.at(-1)).toMatch(/: at most 1\.00 GiB$/);
  });

  it('is known if the limit is stated or the GPU was full', () => {
    const stated = judgeOom({ ...FULL, freeBytes: 40 * GIB, allowedBytes: 11 * GIB });
    const full = judgeOom({ ...FULL, freeBytes: GIB, peakReservedBytes: 10.5 * GIB });
    for (const judged of [stated, full])
      expect(judged).toMatchObject({ missingBytes: 0.5 * GIB, isMissingAtMost: false });
    expect(stated.text).toContain(' 1.00 GiB was missing, 512.00 MiB if all gaps were one piece.');
    expect(full.text).toContain(' 512.00 MiB was missing.');
  });
});

it('lists each call site once, whichever paths through PyTorch lead to it', async () => {
  for (const name of ['oom_batch_too_big', 'oom_fragmented', 'pairs/oom_leak.python']) {
    const [context] = contextsOf(loadCapture(`${name}.pickle.gz`));
    const { findings } = await analysisOf(context);
    for (const { parts } of findings.filter(({ detector }) => detector === 'oom')) {
      const labels = parts.map(({ frame }) => JSON.stringify(frame));
      expect(new Set(labels).size).toBe(labels.length);
      expect(labels.length).toBeGreaterThan(1);
    }
  }
});

describe('what would disprove it', () => {
  const disproofOf = async (name: string) => {
    const [context] = contextsOf(loadCapture(`${name}.pickle.gz`));
    const { findings } = await analysisOf(context);
    return findings.find(({ detector }) => detector === 'oom')?.disproof;
  };

  it('is no setting under which the simulated run fails too', async () => {
    expect(await disproofOf('oom_batch_too_big')).toMatch(/^With more memory/);
  });

  it('is a setting if its run passes, or is not simulated', async () => {
    expect(await disproofOf('oom_fragmented')).toContain('expandable_segments:True');
  });
});

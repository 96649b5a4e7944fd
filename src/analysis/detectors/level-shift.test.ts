/** Lasting steps up, in recorded programs and in series of peaks; and what only looks like one. */
import { describe, expect, it } from 'vitest';
import { allCaptureNames, loadCapture, pairNames } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { analyse, detect } from '../findings/analyse.ts';
import { AnalysisInput } from '../findings/analysis-input.ts';
import type { Finding } from '../findings/detectors.ts';
import { findShift } from './level-shift.ts';

const MIB = 2 ** 20;

function shiftsOf(name: string): readonly Finding[] {
  return contextsOf(loadCapture(`${name}.pickle.gz`)).flatMap((context) => {
    const result = detect('level-shift', new AnalysisInput(context));
    return result.status === 'found' ? result.findings : [];
  });
}

const SHIFTED = ['experts_skewed', 'batch_grows_at_step_6'];

describe('a step up that stays', () => {
  // capture, kind, line, step, peaks before and after in MiB, what changed first
  it.each([
    ['experts_skewed', 'larger-tensors', 472, 7, 336, 520, 'capture.py:469 (forward)'],
    ['batch_grows_at_step_6', 'larger-tensors', 79, 6, 293.08, 645.15, 'capture.py:88 (rows)'],
  ])('%s: %s at line %d, after %d steps', (name, kind, line, step, before, after, first) => {
    for (const stacks of ['python', 'all']) {
      const [finding, ...more] = shiftsOf(`pairs/${name}.${stacks}`);
      expect(more).toEqual([]);
      expect(finding).toMatchObject({ kind, severity: 'medium', frame: { line } });
      const facts = new Map(finding.facts.map((fact) => [fact.label, fact]));
      expect(facts.get('at step')).toMatchObject({ count: step });
      const mib = (label: string) => {
        const fact = facts.get(label);
        return fact !== undefined && 'bytes' in fact ? fact.bytes / MIB : Number.NaN;
      };
      expect(mib('peak of a step before')).toBeCloseTo(before, 1);
      expect(mib('peak of a step after')).toBeCloseTo(after, 1);
      expect(finding.bytes / MIB).toBeCloseTo(after - before, 1);
      expect(facts.get('changed first')).toMatchObject({ text: expect.stringContaining(first) });
    }
  });

  it('says how the tensors changed, and where the larger ones come from', () => {
    const [experts] = shiftsOf('pairs/experts_skewed.python');
    expect(experts.claim).toContain(
      'tensors of capture.py:472 (forward) grew from 32.00 MiB to 64.00 MiB',
    );
    const [batch] = shiftsOf('pairs/batch_grows_at_step_6.python');
    expect(batch.claim).toContain('grew from 16.00 MiB to 48.00 MiB');
    expect(batch.claim).toContain(
      'The first to change in that step was capture.py:88 (rows), called from capture.py:510 (batch_grows_at_step_6).',
    );
  });

  it('is not reported when weights are copied once, for an average', () => {
    for (const stacks of ['python', 'all'])
      expect(shiftsOf(`pairs/ema_from_step_6.${stacks}`)).toEqual([]);
  });

  it('is in no other capture', () => {
    const names = [
      ...allCaptureNames().map((name) => name.replace('.pickle.gz', '')),
      ...pairNames()
        .filter((name) => !SHIFTED.includes(name.replace('pairs/', '')))
        .map((name) => `${name}.python`),
    ];
    expect(names.length).toBeGreaterThan(90);
    for (const name of names) expect([name, shiftsOf(name)]).toEqual([name, []]);
  }, 120_000);
});

/** Checkpoints that a ring's program keeps: four before its oldest event, one after step 6, one at the end. */
function keptCheckpoints(isKept: boolean): string {
  const copy =
    '@/x/site-packages/torch/_tensor.py:182 __deepcopy__ < train.py:355 test < train.py:9 main';
  const steps = Array.from({ length: 12 }, (_, step) => [
    ...(step === 6 ? [`+K6 16Mi ${copy}`] : []),
    ...['begin step', '+A 64Mi @train.py:20 train < train.py:8 main', '-A', 'end step'],
  ]);
  const before = Array.from({ length: 4 }, (_, i) => `+K${i} 16Mi ${copy}`);
  const after = isKept ? [`+K7 16Mi ${copy}`] : ['-K0', '-K1', '-K2', '-K3'];
  return [...before, 'ring', ...steps.flat(), ...after].join('\n');
}

const analysedText = async (text: string) => {
  const [context] = contextsOf(snapshotFromText(text).snapshot);
  return analyse(context);
};

describe('a step up of what is kept', () => {
  it('is told once, by the growth check, as the verdict tells it', async () => {
    const { findings, checks, verdict } = await analysedText(keptCheckpoints(true));
    expect(verdict.cause).toBe('kept');
    expect(findings).toMatchObject([{ detector: 'growth', kind: 'kept-tensor' }]);
    const [{ claim, fingerprint, bytes }] = findings;
    expect(claim).toMatch(
      /^96\.00 MiB in 6 tensors \(4 of them from before the oldest recorded event\) from train\.py:355 \(test\) is kept, /,
    );
    expect(verdict).toMatchObject({ finding: fingerprint, bytes });
    const shift = checks.find(({ detector }) => detector === 'level-shift');
    expect(shift?.reason.toLowerCase()).toBe('another finding tells it');
  });

  it('is an ordinary step up if the rest is given back', async () => {
    const { findings } = await analysedText(keptCheckpoints(false));
    const [shift] = findings.filter(({ detector }) => detector === 'level-shift');
    expect(shift.claim).toContain('neither a leak nor the start');
  });
});

describe('a series of peaks', () => {
  it.each([
    ['a step up', [50, 60, 60, 60, 60, 90, 90, 90, 90], 5],
    ['one after a higher start', [80, 60, 60, 60, 60, 100, 100, 101, 100], undefined],
    ['one between uneven levels', [50, 60, 62, 61, 60, 90, 93, 91, 90], 5],
    ['the start', [50, 90, 90, 90, 90, 90, 90, 90, 90], undefined],
    ['a slow start', [50, 60, 70, 80, 85, 90, 90, 90, 90, 90], undefined],
    ['one high step', [50, 60, 60, 60, 60, 90, 60, 60, 60], undefined],
    ['a leak', [50, 60, 70, 80, 90, 100, 110, 120, 130], undefined],
    ['a leak behind a step', [50, 60, 60, 60, 60, 90, 100, 110, 120, 130], undefined],
    ['several steps up', [50, 60, 60, 60, 80, 80, 80, 100, 100, 100], undefined],
    ['too few steps after it', [50, 60, 60, 60, 60, 60, 60, 90, 90], undefined],
    ['nothing', [60, 60, 60, 60, 60, 60, 60, 60], undefined],
  ])('%s', (_, peaks, step) => {
    expect(findShift(peaks)?.step).toBe(step);
  });

  it('with thousands of slowly rising steps is judged at once', () => {
    const started = performance.now();
    expect(findShift(Array.from({ length: 50_000 }, (_, i) => 1e9 + i * 1e5))).toBeUndefined();
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

/** What people read about a finding, for every capture and for odd files. */
import { describe, expect, it } from 'vitest';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { snapshotFromValue } from '../../format/snapshot/from-value.ts';
import { EMPTY_STACK } from '../../format/snapshot/tables.ts';
import { analysisOf } from '../../testing/analysed.ts';
import {
  allCaptureNames,
  isRepeated,
  loadCapture,
  pairNames,
  settingsCaptureNames,
} from '../../testing/captures.ts';
import { contextOf, contextsOf, traceOf } from '../../testing/contexts.ts';
import { type Analysis, analyse } from './analyse.ts';
import type { Finding } from './detectors.ts';

/** A longer text is not a claim. */
const MAX_LENGTH = 500;
/** C++ names that nobody can read, and files that nobody has. */
const UNREADABLE = /\?\?|std::|tmpxft/;

const NAMES = [
  ...allCaptureNames().filter((name) => !isRepeated(name)),
  ...settingsCaptureNames(),
  ...pairNames().flatMap((name) => [`${name}.python.pickle.gz`, `${name}.all.pickle.gz`]),
];

function textsOf({ findings, checks, verdict }: Analysis): string[] {
  const { text, brief, also, advice } = verdict;
  return [
    ...findings.map(({ claim }) => claim),
    ...[text, brief, ...also, ...advice.map((remedy) => remedy.text)],
    ...checks.map(({ reason }) => reason),
  ];
}

function expectReadable(texts: readonly string[]): void {
  for (const text of texts) {
    expect(text.length, text).toBeLessThanOrEqual(MAX_LENGTH);
    expect(text).not.toMatch(UNREADABLE);
  }
}

/** What the search for a finding's blocks shows at the cursor, once the finding is selected. */
function liveBytes({ replay }: DeviceModel, { evidence, moment }: Finding): number {
  const { start, freeRequested, sizeBytes } = replay.allocations;
  const live = evidence.allocations.filter(
    (id) => start[id] <= moment && freeRequested[id] > moment,
  );
  return live.reduce((sum, id) => sum + sizeBytes[id], 0);
}

describe('what findings say about every capture', () => {
  it.each(NAMES)('%s', async (name) => {
    for (const context of contextsOf(loadCapture(name))) {
      const analysis = await analysisOf(context);
      expectReadable(textsOf(analysis));
      expect(analysis.verdict.also.length).toBeLessThanOrEqual(3);
      for (const finding of analysis.findings) {
        const { severity, frame, evidence } = finding;
        if (finding.detector === 'growth' || finding.detector === 'no-grad')
          expect(liveBytes(context, finding)).toBe(finding.bytes);
        const isUser = (stack: number) => context.stacks.topUserFrameView(stack)?.kind === 'user';
        const hasUser = evidence.stacks.some((stack) => stack > EMPTY_STACK && isUser(stack));
        if (severity !== 'low' && hasUser) expect(frame?.kind).toBe('user');
      }
    }
  });
});

const MIB = 2 ** 20;

/** Ever new sizes that are kept until an OOM, all from one stack. */
function untilOom(frames: readonly Readonly<Record<string, unknown>>[]): DeviceModel {
  const kept = Array.from({ length: 40 }, (_, i) => [
    { action: 'segment_alloc', addr: (i + 1) * 2 ** 32, size: (2 * i + 22) * MIB, frames },
    { action: 'alloc', addr: (i + 1) * 2 ** 32, size: (2 * i + 21) * MIB, frames },
  ]).flat();
  const oom = { action: 'oom', device_free: 0, size: 4096 * MIB, frames };
  return contextOf(traceOf(...kept, oom));
}

describe('odd files', () => {
  it('whose devices are all empty', async () => {
    const devices = contextsOf(snapshotFromValue({ segments: [], device_traces: [[], [], []] }));
    expect(devices.length).toBeGreaterThan(0);
    for (const context of devices) {
      const analysis = await analyse(context);
      expect(analysis.findings).toEqual([]);
      expect(analysis.verdict.tone).toBe('unknown');
      expectReadable(textsOf(analysis));
    }
  });

  it('with stacks of C++ alone', async () => {
    const frames = [
      { filename: '??', line: 0, name: 'std::vector<at::Tensor>::push_back(at::Tensor&&)' },
      { filename: '/tmp/tmpxft_0000_1.cudafe1.cpp', line: 3, name: 'void at::native::kernel<4>()' },
      { filename: '??', line: 0, name: 'torch::autograd::generated::AddmmBackward0::apply(int)' },
    ];
    const analysis = await analyse(untilOom(frames));
    expect(analysis.findings.map(({ detector }) => detector)).toContain('oom');
    expectReadable(textsOf(analysis));
  });

  it('with names of 10 kB', async () => {
    const name = 'f'.repeat(10_000);
    const frames = [{ filename: `/${'d'.repeat(10_000)}/${'a'.repeat(10_000)}.py`, line: 7, name }];
    const analysis = await analyse(untilOom(frames));
    expect(analysis.findings.map(({ detector }) => detector)).toContain('oom');
    expectReadable(textsOf(analysis));
  });
});

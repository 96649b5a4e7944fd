import { describe, expect, test } from 'vitest';
import { captureNames, loadCapture } from '../../testing/captures.ts';
import { contextOf, contextsOf, traceOf } from '../../testing/contexts.ts';
import { inTorch, Program } from '../../testing/program.ts';
import { callSiteInfo } from './call-sites.ts';
import { deviceInfo, failedOoms, sessionInfo, traceCounts } from './device-info.ts';
import { crosshairAt, durationUs, eventAtTime } from './events.ts';

const context = contextOf(
  traceOf(
    { action: 'alloc', addr: 512, size: 100, frames: [{ name: 'f', filename: 'a.py', line: 1 }] },
    { action: 'snapshot', addr: 0, size: 512 },
    { action: 'oom', device_free: 77, size: 4096 },
    { action: 'teleport', addr: 1, size: 1 },
    { action: 'oom', size: 8192, stream: 5 },
  ),
);

test('facts about a device', () => {
  expect(deviceInfo(context, 3)).toMatchObject({
    index: 3,
    device: 0,
    kind: 'cuda',
    events: 5,
    actions: { alloc: 1, snapshot: 1, oom: 2, teleport: 1 },
    allocations: 1,
    preexisting: 0,
    preexistingWithoutStack: 0,
    durationUs: 40,
    hasTime: true,
    hasCategory: false,
    hasHolders: false,
    hasSource: false,
    ooms: [
      { event: 2, timeUs: 20, requestedBytes: 4096, deviceFreeBytes: 77 },
      { event: 4, timeUs: 40, requestedBytes: 8192, deviceFreeBytes: Number.NaN },
    ],
    snapshots: [{ event: 1, timeUs: 10 }],
  });
  expect(traceCounts(context)).toEqual({ stacks: 1, frames: 1, streams: 2 });
});

test('the state under the crosshair', () => {
  expect(crosshairAt(context, 0)).toMatchObject({ event: 0, action: 'alloc', timeUs: 0 });
  expect(crosshairAt(context, 3)).toMatchObject({ action: 'teleport', timeUs: 30 });
  expect(crosshairAt(context, 0).counters.activeBytes).toBe(512);
  expect(crosshairAt(context, -9)).toMatchObject({ event: -1, action: '', timeUs: Number.NaN });
  expect(crosshairAt(context, 99)).toMatchObject({ event: 4, action: 'oom' });
});

describe('time', () => {
  test.each([
    [-1, -1],
    [0, 0],
    [9.5, 0],
    [10, 1],
    [1e9, 4],
  ])('at %d us the state is that of event %d', (timeUs, event) => {
    expect(eventAtTime(context.trace.events, timeUs)).toBe(event);
  });

  test('is unknown in files that have none', () => {
    const { trace } = contextOf({ device_traces: [[{ action: 'snapshot', addr: 0, size: 0 }]] });
    expect(eventAtTime(trace.events, 0)).toBe(-1);
    expect(durationUs(trace.events)).toBe(0);
  });
});

test('annotations without partner become a warning', () => {
  const { snapshot } = contextOf({
    device_traces: [[{ action: 'alloc', addr: 512, size: 1, time_us: 1 }]],
    external_annotations: [{ stage: 'START', name: 'a', device: 0, time_us: 1 }],
  });
  const file = { name: 'x', bytes: 1, container: 'json', protocol: undefined } as const;
  const info = sessionInfo({ ...file, decoder: 'general', partial: undefined }, snapshot, []);
  expect(info.warnings.map(({ code }) => code)).toContain('unpaired-annotation');
});

test('sites add up to all allocations', () => {
  for (const name of captureNames().filter((capture) =>
    /leak_loss_graph|no_history/.test(capture),
  )) {
    for (const { snapshot, replay, callSites } of contextsOf(loadCapture(name))) {
      let allocations = 0;
      let liveAtEndBytes = 0;
      for (let stack = -2; stack < snapshot.stacks.length; stack++) {
        const site = callSiteInfo(callSites(), stack);
        allocations += site.allocations;
        liveAtEndBytes += site.liveAtEndBytes;
      }
      expect(allocations).toBe(replay.allocations.length);
      expect(liveAtEndBytes).toBe(replay.end.activeBytes);
    }
  }
});

test('of twelve OOMs of a capture in which cuDNN tries workspaces, eleven were retried', () => {
  const [tries] = contextsOf(loadCapture('near-miss/cudnn_tries_workspaces.pickle.gz'));
  const { ooms } = deviceInfo(tries, 0);
  expect(ooms.filter(({ wasRetried }) => wasRetried)).toHaveLength(11);
  // 4 GiB that the script requests at its end, catching the error.
  expect(failedOoms({ ooms })).toMatchObject([{ requestedBytes: 4 * 2 ** 30 }]);
});

test('behind a convolution in the same line, its last failed try was no error', () => {
  const line = { name: 'forward', filename: '/workspace/resnet.py', line: 24 };
  const call = inTorch('nn/modules/module.py', '_call_impl', 1790);
  const conv = [
    inTorch('nn/modules/conv.py', '_conv_forward', 548),
    inTorch('nn/modules/conv.py', 'forward', 553),
    ...[call, line],
  ];
  const norm = [inTorch('nn/modules/batchnorm.py', 'forward', 194), call, line];
  const program = new Program();
  program.work(2, conv);
  for (let i = 0; i < 3; i++) program.oom(2 ** 25, conv);
  program.oom(2 ** 24, norm);
  const { ooms } = deviceInfo(program.context(), 0);
  expect(failedOoms({ ooms })).toMatchObject([{ requestedBytes: 2 ** 24 }]);
});

/** The account: every reserved byte in exactly one entry, at any moment. */
import { describe, expect, it } from 'vitest';
import { sumByClass } from '../../device/classes/classify.ts';
import { MEMORY_CLASSES } from '../../device/classes/types.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { type EventIndex, TraceAction } from '../../format/snapshot/tables.ts';
import { allCaptureNames, loadCapture, pairNames, truthOf } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { AnalysisInput } from '../findings/analysis-input.ts';
import { accountAt, accountAtEnd, mainAccount } from './account.ts';
import type { Account, AccountEntry } from './types.ts';

const NAMES = [
  ...allCaptureNames().filter((name) => !/^protocols_/.test(name)),
  ...pairNames().map((name) => `${name}.all.pickle.gz`),
];
/** Number of accounts besides those of the peak, the end and the OOMs. */
const RANDOM_EVENTS = 100;

const sumOf = ({ entries }: Account): number => entries.reduce((sum, { bytes }) => sum + bytes, 0);

/** Always the same, so that a test that fails once fails again. */
function* randomEvents(count: number, below: number): Generator<EventIndex> {
  let seed = 12345;
  for (let i = 0; i < count; i++) {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    yield (seed % (below + 1)) - 1;
  }
}

function expectExact(context: DeviceModel, account: Account): void {
  const { event } = account.moment;
  const counters = context.replay.countersAt(event);
  expect([event, sumOf(account)]).toEqual([event, counters.reservedBytes]);
  expect([event, account.allocatedBytes]).toEqual([event, counters.allocatedBytes]);
  expect(account.reservedBytes).toBe(counters.reservedBytes);
  const ids = account.entries.flatMap(({ allocations }) => allocations);
  expect(new Set(ids).size).toBe(ids.length);
}

describe('adds up to the byte', () => {
  it.each(NAMES)('%s', (name) => {
    for (const context of contextsOf(loadCapture(name))) {
      if (context.replay.anomalyCount > 0) continue;
      const analysis = new AnalysisInput(context);
      expectExact(context, mainAccount(analysis));
      expectExact(context, accountAtEnd(analysis));
      for (const event of analysis.eventsOf(TraceAction.Oom).slice(-3))
        expectExact(context, accountAt(analysis, event, 'oom'));
    }
  });

  it.each([
    'leak_output_list',
    'oom_fragmented',
    'streams_record_stream',
    'whatif_expandable/frag_gpt_varlen',
  ])('%s, at a hundred random events', (name) => {
    const [context] = contextsOf(loadCapture(`${name}.pickle.gz`));
    const analysis = new AnalysisInput(context);
    const { length } = context.trace.events;
    for (const event of randomEvents(RANDOM_EVENTS, length))
      expectExact(context, accountAt(analysis, event, 'peak'));
  });

  it('is what the allocator itself counted at the end', () => {
    for (const name of ['train_gpt_small', 'oom_batch_too_big', 'leak_loss_graph']) {
      const [context] = contextsOf(loadCapture(`${name}.pickle.gz`));
      const { reservedBytes, allocatedBytes } = accountAtEnd(new AnalysisInput(context));
      const stats = truthOf(`${name}.pickle.gz`).stats['0'];
      expect(reservedBytes).toBe(stats['reserved_bytes.all.current']);
      expect(allocatedBytes).toBe(stats['allocated_bytes.all.current']);
    }
  });
});

describe('entries', () => {
  it.each(['train_gpt_small', 'leak_loss_graph', 'streams_record_stream', 'kv_cache_generate'])(
    'say which classes they have, which add up to the legend (%s)',
    (name) => {
      const [context] = contextsOf(loadCapture(`${name}.pickle.gz`));
      const analysis = new AnalysisInput(context);
      const { moment, entries } = mainAccount(analysis);
      const { allocations } = context.replay;
      for (const total of sumByClass(allocations, analysis.classification, moment.event, false)) {
        const bytesIn = ({ kind, bytes, classes }: AccountEntry) =>
          classes.length > 0
            ? (classes.find((one) => one.class === total.class)?.bytes ?? 0)
            : kind ===
                (MEMORY_CLASSES[total.class].id === 'growing-state'
                  ? 'kv-cache'
                  : MEMORY_CLASSES[total.class].id)
              ? bytes
              : 0;
        const bytes = entries.reduce((sum, entry) => sum + bytesIn(entry), 0);
        expect([total.class, bytes]).toEqual([total.class, total.bytes]);
      }
    },
  );

  it('of a leak say what each step leaves, and the peak without it', () => {
    const [context] = contextsOf(loadCapture('leak_forward_hook.pickle.gz'));
    const { entries, allocatedBytes } = mainAccount(new AnalysisInput(context));
    const kept = entries.find(({ kind }) => kind === 'kept');
    expect(kept).toMatchObject({
      isGrowing: true,
      rate: { bytes: 524_288, steps: 40, unit: 'step', varies: false },
    });
    expect(kept?.lines[0]).toMatchObject({ line: 271 });
    expect(kept?.bytes).toBe(40 * 524_288);
    // The last capture is made in the forward pass of the last step, before the peak.
    expect(allocatedBytes - (kept?.without?.peakBytes ?? 0)).toBeGreaterThan(38 * 524_288);
  });

  it('of a leak count the steps up to the moment', () => {
    const [context] = contextsOf(loadCapture('leak_forward_hook.pickle.gz'));
    const middle = Math.floor(context.trace.events.length / 2);
    const { entries } = accountAt(new AnalysisInput(context), middle, 'cursor');
    const kept = entries.find(({ kind }) => kind === 'kept');
    expect(kept?.rate?.steps).toBeLessThan(30);
    expect(kept?.bytes).toBe((kept?.rate?.steps ?? 0) * 524_288);
  });

  it('of an OOM come with the request and the limit', () => {
    const [context] = contextsOf(loadCapture('oom_batch_too_big.pickle.gz'));
    const { moment, requestedBytes, limitBytes, reservedBytes } = mainAccount(
      new AnalysisInput(context),
    );
    expect(moment.why).toBe('oom');
    expect(requestedBytes).toBe(512 * 2 ** 20);
    expect(limitBytes).toBeGreaterThanOrEqual(reservedBytes);
  });

  it('without a trace describe the final state', () => {
    const [context] = contextsOf(loadCapture('no_history.pickle.gz'));
    const account = mainAccount(new AnalysisInput(context));
    expect(account.moment).toEqual({ event: -1, why: 'end' });
    expect(sumOf(account)).toBe(context.replay.end.reservedBytes);
    expect(account.entries.map(({ kind }) => kind)).toContain('unknown');
  });
});

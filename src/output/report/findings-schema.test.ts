/**
 * The contract `vramscope.findings/2`, key by key: exactly these keys, and only words that docs/findings.md lists.
 * The types tie the schema to the code: a new cause or remedy does not compile without its word here.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { EntryKind } from '../../analysis/account/types.ts';
import { DETECTOR_IDS, DETECTORS, type FindingKind } from '../../analysis/findings/detectors.ts';
import { SEVERITIES } from '../../analysis/findings/types.ts';
import type { Cause, Pattern, RemedyId } from '../../analysis/verdict/types.ts';
import { LEDGER_MOMENTS } from '../../format/snapshot/tables.ts';
import { analysisOf } from '../../testing/analysed.ts';
import { allCaptureNames, loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { buildFindings, type FindingsReport } from './findings.ts';

/** All words of a type, and no others; the compiler checks that none is missing. */
const wordsOf = <Word extends string>(words: Readonly<Record<Word, true>>) =>
  z.enum(Object.keys(words) as [Word, ...Word[]]);

const ENTRY_KINDS = {
  parameters: true,
  'second-model': true,
  gradients: true,
  'optimizer-state': true,
  activations: true,
  temporaries: true,
  inputs: true,
  communication: true,
  workspaces: true,
  'kv-cache': true,
  kept: true,
  'kept-graph': true,
  growing: true,
  unknown: true,
  'pending-free': true,
  gaps: true,
  cached: true,
  pools: true,
} as const satisfies Record<EntryKind, true>;

const cause = wordsOf<Cause>({
  ...ENTRY_KINDS,
  'model-state': true,
  request: true,
  fragmentation: true,
  'other-processes': true,
  collectives: true,
  'process-rest': true,
  none: true,
});

const pattern = wordsOf<Pattern>({
  'evaluation-gathers': true,
  'state-not-detached': true,
  'first-optimizer-step': true,
  'whole-graph': true,
  'logits-in-loss': true,
  'kept-exceptions': true,
  'kept-optimizers': true,
  'optimizer-history': true,
  'kept-by-hook': true,
  'kept-gradients': true,
  'kept-weight-gradients': true,
  'kept-numbers': true,
  'retained-graph': true,
  'created-graph': true,
  'kept-copies': true,
  'unbounded-cache': true,
  'larger-batch': true,
  'larger-pass': true,
  'evaluation-without-no-grad': true,
  'stepped-up': true,
  'waiting-graphs': true,
  'resident-data': true,
  'loaded-data': true,
  'piled-up': true,
  'line-scratch': true,
  'larger-part': true,
  'untrained-part': true,
  'long-loop': true,
  'segments-retaken': true,
});

const remedy = wordsOf<RemedyId>({
  'batch-size': true,
  'backward-each': true,
  checkpointing: true,
  'lower-precision': true,
  'optimizer-8bit': true,
  shard: true,
  'smaller-cache': true,
  quantize: true,
  offload: true,
  adapters: true,
  'sparse-gradients': true,
  detach: true,
  'no-grad': true,
  'to-cpu': true,
  'chunked-loss': true,
  'one-tensor': true,
  sampling: true,
  'bound-cache': true,
  'clear-exceptions': true,
  'clear-gradients': true,
  'remove-hook': true,
  'reuse-optimizer': true,
  'share-model': true,
  'share-pool': true,
  'expandable-segments': true,
  'repeat-sizes': true,
  'wait-for-streams': true,
  'raise-limit': true,
  'free-the-device': true,
  'fewer-groups': true,
  'smaller-collectives': true,
  'lean-process': true,
  'check-batch': true,
  'shorter-loop': true,
  'record-more': true,
});

const bytes = z.number().int().nonnegative();
const event = z.number().int().gte(-1);
const frame = z.strictObject({ file: z.string(), line: z.number().int(), name: z.string() });
const rate = z.strictObject({
  bytes: z.number().int(),
  steps: z.number().int().positive(),
  unit: z.string().min(1),
  bursts: z
    .strictObject({ bytes: z.number().int(), count: z.number().int().positive() })
    .exactOptional(),
});

const signed = z.number().int();
const process = z.strictObject({ pid: z.number().int(), bytes });
const ofKind = <K extends string, Shape extends z.ZodRawShape>(kind: K, shape: Shape) =>
  z.strictObject({ kind: z.literal(kind), label: z.string().min(1), bytes: signed, ...shape });
const card = z.strictObject({
  sample: z
    .strictObject({
      event,
      timeUs: z.number(),
      moment: z.enum(LEDGER_MOMENTS),
      step: z.number().int().exactOptional(),
    })
    .nullable(),
  totalBytes: bytes.nullable(),
  rows: z.array(
    z.union([
      ofKind('allocated', {}),
      ofKind('cached', {}),
      ofKind('free', {}),
      ofKind('pool', { id: z.tuple([signed, signed]), allocatedBytes: bytes }),
      ofKind('communicator', { group: z.string(), backend: z.string() }),
      ofKind('process-rest', { contextBytes: bytes.exactOptional() }),
      ofKind('others', { processes: z.array(process).exactOptional() }),
      ofKind('outside', { reason: z.string(), contextBytes: bytes.exactOptional() }),
      ofKind('behind-allocator', {}),
      ofKind('unexplained', {}),
    ]),
  ),
  unknown: z.array(z.string().min(1)),
});

const account = z.strictObject({
  moment: z.strictObject({ event, why: z.enum(['oom', 'peak', 'end']) }),
  allocatedBytes: bytes,
  reservedBytes: bytes,
  roundingBytes: bytes.nullable(),
  limitBytes: bytes.nullable(),
  requestedBytes: bytes.nullable(),
  entries: z.array(
    z.strictObject({
      kind: wordsOf<EntryKind>(ENTRY_KINDS),
      bytes: bytes.positive(),
      count: z.number().int().positive(),
      lines: z.array(frame),
      holder: z.string().min(1).exactOptional(),
      perStep: rate.exactOptional(),
      growing: z.boolean(),
    }),
  ),
  card: card.nullable(),
});

const verdict = z.strictObject({
  cause,
  pattern: pattern.nullable(),
  severity: z.enum([...SEVERITIES, 'none']),
  tone: z.enum(['severe', 'warning', 'calm', 'unknown']),
  bytes,
  text: z.string().min(1),
  also: z.array(z.string()),
  lines: z.array(frame),
  holder: z.string().min(1).nullable(),
  advice: z.array(
    z.strictObject({
      id: remedy,
      text: z.string().min(1),
      savesBytes: bytes.nullable(),
      isEnough: z.boolean().nullable(),
      soFar: z.boolean(),
    }),
  ),
  forecast: z
    .strictObject({
      stepsLeft: z.number().int().nonnegative().nullable(),
      bytesPerStep: bytes,
      unit: z.string(),
    })
    .nullable(),
});

const fact = z.union([
  z.strictObject({ label: z.string(), bytes: z.number() }),
  z.strictObject({ label: z.string(), count: z.number() }),
  z.strictObject({ label: z.string(), text: z.string() }),
]);

const finding = z.strictObject({
  detector: z.enum(DETECTOR_IDS),
  kind: z.enum(DETECTORS.flatMap(({ titles }) => Object.keys(titles) as FindingKind[])),
  severity: z.enum(SEVERITIES),
  bytes,
  claim: z.string().min(1),
  frame: frame.nullable(),
  frameIs: z
    .enum([
      'allocated at',
      'stored at',
      'kept by backward at',
      'started at',
      'held by',
      'pinned by',
      'requested by',
      'called by',
    ])
    .nullable(),
  userLines: z.array(frame),
  stack: z.array(frame),
  perStep: z
    .strictObject({
      bytes: z.number(),
      count: z.number(),
      steps: z.number().int(),
      unit: z.string().min(1),
    })
    .nullable(),
  law: z.enum(['flat', 'growing', 'by-key', 'in-bursts']).nullable(),
  events: z.strictObject({ first: event, last: event }),
  parts: z.array(
    z.strictObject({
      frame: frame.nullable(),
      stackKind: z.enum(['recorded', 'no-python-stack', 'no-context', 'before-recording']),
      bytes: z.number(),
      count: z.number(),
      note: z.string(),
    }),
  ),
  facts: z.array(fact),
  advice: z.array(z.string()),
  disproof: z.string(),
  fingerprint: z.string().min(1),
});

const report = z.strictObject({
  schema: z.literal('vramscope.findings/2'),
  file: z.strictObject({
    name: z.string(),
    bytes,
    container: z.enum(['pickle', 'gzip', 'zip', 'zstd', 'html', 'json', 'compact']),
    protocol: z.number().int().nullable(),
    decoder: z.enum(['columnar', 'general']),
  }),
  devices: z.array(
    z.strictObject({
      device: z.number().int(),
      kind: z.enum(['cuda', 'host']),
      account: account.nullable(),
      accountAtEnd: account.nullable(),
      verdict: verdict.nullable(),
      most: z
        .strictObject({ ...frame.shape, bytes, count: z.number().int(), withCalledBytes: bytes })
        .nullable(),
      checks: z.array(
        z.strictObject({
          detector: z.enum(DETECTOR_IDS),
          status: z.enum(['found', 'clear', 'cannot-tell']),
          reason: z.string().min(1),
        }),
      ),
      findings: z.array(finding),
    }),
  ),
}) satisfies z.ZodType<FindingsReport>;

/** As a program reads it: in JSON, NaN is null and undefined keys are missing. */
async function reportOf(name: string): Promise<unknown> {
  const snapshot = loadCapture(name);
  const analyses = [];
  for (const context of contextsOf(snapshot)) analyses.push(await analysisOf(context));
  const file = {
    name,
    bytes: 1,
    container: 'gzip',
    protocol: 4,
    decoder: 'columnar',
    partial: undefined,
  } as const;
  return JSON.parse(JSON.stringify(buildFindings(file, snapshot.devices, analyses)));
}

/** One of these has variable names. */
const NAMES = allCaptureNames().filter((name) => !name.includes('/') || name.includes('holders'));

describe('vramscope.findings/2', () => {
  it.each(NAMES)('%s', async (name) => {
    const { devices } = report.parse(await reportOf(name));
    expect(devices).toHaveLength(loadCapture(name).devices.length);
    for (const device of devices) {
      for (const one of [device.account, device.accountAtEnd]) {
        const sum = one?.entries.reduce((total, entry) => total + entry.bytes, 0);
        expect(sum).toBe(one?.reservedBytes);
        expect(sum).toBeDefined();
      }
      expect(device.verdict).not.toBeNull();
      expect(device.checks.map(({ detector }) => detector)).toEqual(DETECTOR_IDS);
    }
  });
});

/** Whether an example contains nothing that the report lacks: keys may be omitted, and lists may be shorter. */
function expectPartOf(example: unknown, whole: unknown, path: string): void {
  if (typeof example !== 'object' || example === null) {
    expect([path, example]).toEqual([path, whole]);
    return;
  }
  for (const [key, value] of Object.entries(example))
    expectPartOf(value, Object(whole)[key], `${path}.${key}`);
}

it('the example in docs/findings.md matches the capture', async () => {
  const [, example] = /```json\n(.*?)```/s.exec(readFileSync('docs/findings.md', 'utf8')) ?? [];
  const { devices } = JSON.parse(example ?? '');
  expect(devices).toHaveLength(1);
  const whole = report.parse(await reportOf('leak_forward_hook.pickle.gz'));
  expectPartOf(devices, whole.devices, 'devices');
});

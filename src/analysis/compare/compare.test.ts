import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allocatorProgram } from '../../testing/arbitrary-program.ts';
import { captureSide, drawnSide } from '../../testing/sides.ts';
import { compareSides } from './compare.ts';
import type { Comparison, RunProfile } from './types.ts';

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);

/** Call sites, classes and causes add up to the difference, and to each side's bytes. */
function expectExact({ a, b, sites, classes, entries, causes, differenceBytes }: Comparison): void {
  expect(sum(sites.map((site) => site.differenceBytes))).toBe(differenceBytes);
  expect(sum(classes.map((one) => one.bytesB - one.bytesA))).toBe(differenceBytes);
  expect(sum(causes.map(({ bytes }) => bytes))).toBe(differenceBytes);
  const changed = entries.filter((entry) => entry.differenceBytes !== 0);
  expect(new Set(causes.flatMap((cause) => cause.entries))).toEqual(new Set(changed));
  expect(sum(entries.map((entry) => entry.differenceBytes))).toBe(differenceBytes);
  // Something that explains none of a difference never comes first.
  if (Math.abs(differenceBytes) >= 2 ** 20)
    expect(causes[0].bytes * differenceBytes).toBeGreaterThan(0);
  for (const parts of [sites, classes, entries]) {
    expect(sum(parts.map(({ bytesA }) => bytesA))).toBe(a.counters.allocatedBytes);
    expect(sum(parts.map(({ bytesB }) => bytesB))).toBe(b.counters.allocatedBytes);
  }
}

const program = fc
  .constantFrom([], ['set max_split_size=134217728'], ['set roundup_power2_divisions=4'])
  .chain((settings) => allocatorProgram(settings))
  .chain((lines) =>
    // The recording begins somewhere in between: what comes before is memory from before it.
    fc
      .nat(lines.length)
      .map((at) => [...lines.slice(0, at), 'record', ...lines.slice(at)].join('\n')),
  );

describe('the parts of a difference', () => {
  it('add up to the byte, for any programs at any moment', () => {
    const moment = fc.constantFrom('peak' as const, 'end' as const);
    fc.assert(
      fc.property(program, program, moment, (before, after, at) => {
        const [a, b] = [drawnSide(before, at), drawnSide(after, at)];
        const there = compareSides(a, b);
        expectExact(there);
        const back = compareSides(b, a);
        expectExact(back);
        expect(back.differenceBytes).toBe(there.differenceBytes === 0 ? 0 : -there.differenceBytes);
      }),
      { numRuns: 60 },
    );
  });

  it('are empty between a program and itself', () => {
    fc.assert(
      fc.property(program, (text) => {
        const { sites, verdict } = compareSides(drawnSide(text), drawnSide(text));
        expect(sites.filter(({ differenceBytes }) => differenceBytes !== 0)).toEqual([]);
        expect(verdict).toMatch(/^No difference/);
      }),
      { numRuns: 30 },
    );
  });

  it('keep rounding and memory from before the recording apart', () => {
    const { classes } = compareSides(
      drawnSide('+old 1Mi\nrecord\n+x 1000 @train.py:1 run'),
      drawnSide('+x 1000 @train.py:1 run\n+y 600 @train.py:1 run'),
    );
    const of = (name: string) => classes.find((one) => one.class === name);
    expect(of('before-recording')).toMatchObject({ bytesA: 2 ** 20, bytesB: 0 });
    expect(of('rounding')).toMatchObject({ bytesA: 24, bytesB: 24 + 424 });
  });
});

/** Tensors of these sizes in MiB from one line, all live at the peak. */
const tensors = (...sizes: readonly number[]): string =>
  sizes.map((size, i) => `+t${i} ${size}Mi @train.py:7 run < train.py:20 main`).join('\n');

describe('the kind of a change', () => {
  it.each([
    ['only-b', tensors(), tensors(2)],
    ['only-a', tensors(2), tensors()],
    ['more', tensors(2, 2), tensors(2, 2, 2)],
    ['fewer', tensors(2, 3), tensors(3)],
    ['larger', tensors(2, 2), tensors(4, 4)],
    ['larger', tensors(2, 3), tensors(2, 4)],
    ['smaller', tensors(4, 4), tensors(2, 2)],
    ['mixed', tensors(2, 2), tensors(4, 4, 4)],
    ['mixed', tensors(2, 9), tensors(3, 4)],
  ])('%s', (kind, before, after) => {
    const other = '+other 1Mi @eval.py:3 evaluate';
    const { sites } = compareSides(
      drawnSide(`${before}\n${other}`),
      drawnSide(`${after}\n${other}`),
    );
    const changed = sites.filter(({ differenceBytes }) => differenceBytes !== 0);
    expect(changed.map((site) => site.kind)).toEqual([kind]);
  });
});

/** Differences of at least a MiB, by class and kind. */
const changes = ({ sites }: Comparison) =>
  sites.filter(({ differenceBytes }) => Math.abs(differenceBytes) >= 2 ** 20);

describe('real recordings', () => {
  const capture = (name: string): RunProfile => captureSide(name);

  it('a renamed script whose lines all moved has not changed', () => {
    const comparison = compareSides(capture('pairs/compare/base'), capture('pairs/compare/moved'));
    expectExact(comparison);
    expect(changes(comparison)).toEqual([]);
    expect(comparison.verdict).toMatch(/^No difference/);
  });

  it('twice the batch: activations at the same lines are larger', () => {
    const comparison = compareSides(capture('pairs/compare/base'), capture('pairs/compare/batch2'));
    expectExact(comparison);
    const activations = changes(comparison).filter((site) => site.class === 'activations');
    expect(activations.length).toBeGreaterThan(8);
    expect(new Set(activations.map(({ kind }) => kind))).toEqual(new Set(['larger']));
    expect(comparison.verdict).toMatch(
      /^Peak \+838\.41 MiB \(\+65%\): \+712\.14 MiB of activations, .*: activations at the same \d+ lines are twice as large: the batch or the sequence doubled\./,
    );
  });

  it('checkpointing: activations shrink, and the rerun lines are named', () => {
    const comparison = compareSides(capture('train_gpt_small'), capture('train_gpt_checkpoint'));
    expectExact(comparison);
    expect(comparison.verdict).toMatch(
      /: -711\.14 MiB of activations: B checkpoints activations, and runs scenarios\.py:\d+, .* again in the backward pass\./,
    );
    const back = compareSides(capture('train_gpt_checkpoint'), capture('train_gpt_small'));
    expect(back.verdict).toMatch(/: A checkpoints activations/);
  });

  it.each([
    ['pairs/gpt_train.python', 'pairs/gpt_amp.python', /B computes in 16 bits \(autocast\)/],
    ['pairs/gpt_amp.all', 'pairs/gpt_train.all', /A computes in 16 bits \(autocast\)/],
    ['pairs/gpt_train.all', 'pairs/compiled.all', /: B runs compiled code \(torch\.compile\)/],
    ['eval_inference_mode', 'eval_without_no_grad', /inference_mode\(\) is missing in B/],
  ])('%s against %s', (a, b, says) => {
    const comparison = compareSides(capture(a), capture(b));
    expectExact(comparison);
    expect(comparison.verdict).toMatch(says);
  });

  /** Each side is a run of its own. The actual difference is named first, whatever else follows from it. */
  it.each([
    [
      'accumulate',
      /: activations at the same \d+ lines are half as large: the batch or the sequence halved\./,
    ],
    ['accumulate', /halved\. \+59\.30 MiB of gradients: B still has those of all parameters/],
    [
      'attention_flash',
      /: where A runs attention at common\.py:40, .*, B runs attention at common\.py:52, /,
    ],
    [
      'churn',
      /^No difference: .* Over the run compare\.py:143 allocates 320 times in B and 32 times in A\.$/,
    ],
    [
      'ddp_fsdp2',
      /: -82\.67 MiB of optimizer state, .*: B shards the model with FSDP and A copies the model to every GPU with DDP\./,
    ],
    ['eager_compiled', /: B runs compiled code \(torch\.compile\) and A runs eagerly/],
    ['edited', /: B runs code that A does not have, margin at train\.py:41/],
    ['edited_comments', /^No difference/],
    // An evaluation between steps without no_grad(): neither side has activations at its peak.
    [
      'eval_no_grad',
      /: \+857\.04 MiB of activations, at pairs\.py:87, which only B keeps; the two files alone do not show why\./,
    ],
    [
      'gradients_stay',
      /: \+59\.68 MiB of gradients: B still has those of all parameters: .*set_to_none=False/,
    ],
    [
      'leak',
      /: \+191\.63 MiB of kept tensors from compare\.py:63 \(leak\), 15\.96 MiB more each step\. Not explained: -15\.75 MiB of activations\.$/,
    ],
    [
      'longer_sequence',
      /: activations at the same 7 lines are twice as large, and those at common\.py:41 by the square of it: the sequence doubled\./,
    ],
    [
      'one_more_layer',
      /: 60 parameters instead of 48 at compare\.py:21, .*: the model of B has one layer more\./,
    ],
    [
      'optimizer_sgd_adamw',
      /: \+170\.21 MiB of optimizer state: 0\.0 bytes per byte of parameters in A, 2\.0 in B: .* and B runs Adam\.$/,
    ],
    [
      'precision_fp32_bf16',
      /: the same 53 parameters are half as large in B: B keeps them in 16 bits/,
    ],
  ])('%s', (name, says) => {
    const [a, b] = [capture(`pairs/compare/${name}.a`), capture(`pairs/compare/${name}.b`)];
    const comparison = compareSides(a, b);
    expectExact(comparison);
    expectExact(compareSides(b, a));
    expect(comparison.verdict).toMatch(says);
  });

  it('kept memory is the same entry, wherever the program is', () => {
    const side = capture('pairs/compare/leak.b');
    const elsewhere = <T extends { filename: string }>(frame: T) => ({
      ...frame,
      filename: `/mnt/run7${frame.filename}`,
    });
    const moved: RunProfile = {
      ...side,
      frames: side.frames.map(elsewhere),
      entries: side.entries.map((entry) => ({ ...entry, lines: entry.lines.map(elsewhere) })),
    };
    const { entries, causes } = compareSides(side, moved);
    expect(entries.filter(({ kind }) => kind === 'kept')).toHaveLength(1);
    expect(causes).toEqual([]);
  });

  it('the same program recorded with and without C++ frames has not changed', () => {
    const comparison = compareSides(
      capture('pairs/gpt_train.python'),
      capture('pairs/gpt_train.all'),
    );
    expect(comparison.differenceBytes).toBe(0);
    expect(changes(comparison)).toEqual([]);
    expect(comparison.caveats).toEqual([
      expect.stringContaining('without: what the backward pass'),
    ]);
  });
});

it.each([
  ['a path of 50,000 folders', `${'long/'.repeat(50_000)}train.py:1 run`],
  [
    'a recursion of 20,000 calls',
    `train.py:1 run${' < train.py:2 run < train.py:3 go'.repeat(10_000)}`,
  ],
])('%s takes no time', (_, stack) => {
  const side = drawnSide(`+x 1Mi @${stack}`);
  const start = process.cpuUsage();
  compareSides(side, side);
  // This takes half a second; a quadratic algorithm took more than ten.
  expect(process.cpuUsage(start).user / 1e6).toBeLessThan(5);
});

describe('says what cannot be compared', () => {
  it('a file without history', () => {
    const { caveats, verdict } = compareSides(
      captureSide('no_history'),
      captureSide('train_gpt_small'),
    );
    expect(caveats).toEqual([expect.stringMatching(/^A has no history: .* not call sites\.$/)]);
    expect(verdict).toContain('from before the recording');
  });

  it('the same file twice', () => {
    const side = captureSide('train_resnet');
    expect(compareSides(side, side).caveats).toEqual([expect.stringContaining('the same file')]);
  });
});

/** The verdict on every capture: its cause and line, and none for the healthy ones. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { frameLocation } from '../../device/model/frame-text.ts';
import { analysisOf } from '../../testing/analysed.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import type { Analysis } from '../findings/analyse.ts';
import { AnalysisInput } from '../findings/analysis-input.ts';
import { caseOf } from './case.ts';
import { diagnose } from './diagnose.ts';
import { textOf } from './sentences.ts';
import { gainText } from './types.ts';

interface Expected {
  readonly faults: Readonly<
    Record<
      string,
      { readonly cause: string; readonly pattern: string | null; readonly line: string | null }
    >
  >;
  readonly healthy: readonly string[];
  readonly cannotTell: readonly string[];
}

const EXPECTED: Expected = JSON.parse(readFileSync('fixtures/verdicts.json', 'utf8'));

/** 'two_devices#1' is the second device of that capture. */
function analysed(key: string): Promise<Analysis> {
  const [name, device = '0'] = key.split('#');
  return analysisOf(contextsOf(loadCapture(`${name}.pickle.gz`))[Number(device)]);
}

describe('a fault', () => {
  it.each(Object.entries(EXPECTED.faults))('%s', async (key, { cause, pattern, line }) => {
    const { verdict } = await analysed(key);
    const [first] = verdict.lines;
    expect({
      cause: verdict.cause,
      pattern: verdict.pattern ?? null,
      line: first === undefined ? null : frameLocation(first),
    }).toEqual({ cause, pattern, line });
    expect(verdict.bytes).toBeGreaterThan(0);
    expect(verdict.severity).not.toBe('none');
    expect(verdict.advice.length).toBeGreaterThan(0);
  });
});

describe('a healthy run', () => {
  it.each(EXPECTED.healthy)('%s', async (key) => {
    const { verdict, findings } = await analysed(key);
    expect([verdict.cause, verdict.severity]).toEqual(['none', 'none']);
    // A green check never appears beside a finding that contradicts it.
    expect(findings.filter(({ severity }) => severity !== 'low')).toEqual([]);
  });
});

describe('a file without a history', () => {
  it.each(EXPECTED.cannotTell)('%s', async (key) => {
    const { verdict } = await analysed(key);
    expect([verdict.cause, verdict.tone]).toEqual(['unknown', 'unknown']);
    expect(verdict.text).toMatch(/^We can't tell what happened/);
  });
});

describe('the sentence', () => {
  it.each([
    [
      'oom_fragmented',
      'Out of memory: memory is fragmented. 379.75 MiB did not fit in one piece, although 3.76 GiB of the 5.80 GiB that PyTorch held was free. scenarios.py:323 (_fragment) pins memory.',
    ],
    [
      'near-miss/leak_until_oom',
      'Out of memory: tensors that capture.py:375 (run) allocates are kept: 432.00 MiB of the 499.57 MiB in use then, 16.00 MiB more each step. With each freed after use the run needs about 83.57 MiB.',
    ],
    [
      'frag_gpt_varlen',
      'No out-of-memory error, but PyTorch reserved 15.86 GiB, and your tensors never needed more than 5.36 GiB: 10.50 GiB is fragmentation. scenarios.py:47 (attention) asks for many sizes.',
    ],
    [
      'leak_slow_in_long_run',
      /^No out-of-memory error, but tensors that scenarios\.py:292 .* 512 bytes more each step\.$/,
    ],
    ['train_gpt_small', 'No out-of-memory error, and no problem found.'],
    [
      'pairs/eval_between_epochs.python',
      'No out-of-memory error, but forward passes called by capture.py:547 (eval_between_epochs) build graphs that no backward uses, up to 176.47 MiB. Without them the peak would be up to 26.94 MiB lower.',
    ],
    [
      'train_ring_truncated',
      "No problem found in what is left of the recording: older events were dropped, so we can't tell whether memory ran out before.",
    ],
    [
      'pairs/oom_caught_and_halved.python',
      /^Memory ran out 2 times, and your program caught it and went on: /,
    ],
  ])('of %s', async (key, text) => {
    const { verdict } = await analysed(key);
    if (typeof text === 'string') expect(verdict.text).toBe(text);
    else expect(verdict.text).toMatch(text);
  });
});

describe('a server', () => {
  const verdictOf = async (name: string) => (await analysed(`serving/${name}`)).verdict;

  it('runs out of memory with free memory in the pools of its graphs: that is not fragmentation', async () => {
    const { cause, also } = await verdictOf('oom');
    expect(cause).not.toBe('fragmentation');
    // PyTorch's own message says the same: fixtures/serving/oom.truth.json.
    const { message } = JSON.parse(readFileSync('fixtures/serving/oom.truth.json', 'utf8'));
    expect(message).toContain('with 171.59 MiB allocated in private pools');
    expect(also.join(' ')).toContain('171.59 MiB was free in private pools');
  });

  it('is offered what a server can do; training that samples first is not', async () => {
    const idsOf = async (name: string) => (await analysed(name)).verdict.advice.map(({ id }) => id);
    expect(await idsOf('serving/oom')).toEqual([
      'raise-limit',
      'batch-size',
      'smaller-cache',
      'quantize',
    ]);
    const { advice } = await verdictOf('oom');
    expect(advice.map(({ text }) => text).join(' ')).not.toMatch(/gradients|checkpoint/i);
    expect(await idsOf('others/dpo_oom_logits')).toContain('checkpointing');
  });

  it.each(['vllm_like', 'sglang_like', 'own'])(
    '%s slept and woke, and is healthy',
    async (name) => {
      expect((await verdictOf(name)).cause).toBe('none');
    },
  );

  it('says that its pools sleep if a stack shows it', async () => {
    const { also } = await verdictOf('own');
    expect(also.join(' ')).toMatch(
      /CuMemAllocator .* asleep from event 3,646; the stacks don't show whether it woke/,
    );
    expect((await verdictOf('vllm_like')).also).toEqual([
      'At the peak 1.96 GiB was in use, the most of it KV cache and growing state (1.50 GiB) and parameters and buffers (256.03 MiB).',
    ]);
  });
});

describe('what to try', () => {
  it.each([
    ['oom_fragmented', ['expandable-segments', 'raise-limit', 'repeat-sizes']],
    ['oom_batch_too_big', ['check-batch', 'raise-limit']],
    ['leak_forward_hook', ['remove-hook', 'to-cpu']],
    ['pairs/lru_cache_by_key.python', ['bound-cache']],
    ['pairs/kept_exceptions.python', ['clear-exceptions']],
    ['pairs/oom_eval_no_grad.python', ['no-grad', 'raise-limit']],
    ['pairs/oom_logits_backward.python', ['chunked-loss', 'batch-size', 'raise-limit']],
    [
      'pairs/oom_first_forward.python',
      ['batch-size', 'raise-limit', 'checkpointing', 'lower-precision'],
    ],
    ['train_gpt_small', []],
  ])('of %s', async (key, ids) => {
    const { verdict } = await analysed(key);
    expect(verdict.advice.map(({ id }) => id)).toEqual(ids);
  });

  it('says at an OOM whether it would have been enough, and puts sufficient remedies first', async () => {
    const { advice } = (await analysed('near-miss/leak_until_oom')).verdict;
    expect(advice[0].isEnough).toBe(true);
    expect(advice[0].savesBytes).toBeGreaterThan(400 * 2 ** 20);
    const gains = advice.map(({ isEnough }) => isEnough);
    expect(gains.indexOf(false)).toBeLessThan(0);
  });

  it('promises of a setting what its simulation saves, and puts it last if that is little', async () => {
    const savings = async (key: string) =>
      (await analysed(key)).verdict.advice.map(({ id, savesBytes }) => [id, savesBytes]);
    expect(await savings('others/pointnet_frag')).toEqual([
      ['repeat-sizes', undefined],
      ['expandable-segments', 98 * 2 ** 20],
    ]);
    const [first] = await savings('frag_gpt_varlen');
    expect(first).toEqual(['expandable-segments', 17_024_679_936 - 5_844_762_624]);
  });

  it('cannot tell whether it is enough if memory did not run out', async () => {
    const { advice } = (await analysed('leak_output_list')).verdict;
    expect(advice.map(({ isEnough }) => isEnough)).toEqual(advice.map(() => undefined));
  });
});

describe('the forecast', () => {
  it('says what each step leaves behind, and how many more steps fit', async () => {
    const { forecast } = (await analysed('leak_output_list')).verdict;
    expect(forecast).toMatchObject({ stepsLeft: undefined, unit: 'iteration in leak_output_list' });
    expect(Math.abs((forecast?.bytesPerStep ?? 0) / 49_340_000 - 1)).toBeLessThan(0.01);
    expect((await analysed('near-miss/leak_until_oom')).verdict.forecast?.stepsLeft).toBe(0);
    expect((await analysed('train_gpt_small')).verdict.forecast).toBeUndefined();
  });
});

it('gives advice, not an alarm, if unused graphs are dropped one by one and memory never runs short', async () => {
  const { verdict } = await analysed('eval_without_no_grad');
  expect(verdict).toMatchObject({ cause: 'kept-graph', severity: 'low', tone: 'calm' });
  const [first] = verdict.advice;
  expect([first?.id, first?.savesBytes]).toEqual(['no-grad', expect.any(Number)]);
  expect((await analysed('pairs/oom_eval_no_grad.python')).verdict.severity).toBe('high');
});

it('says at which moment each figure is, and why the peak falls by less', async () => {
  const hook = (await analysed('others/fm_hook')).verdict;
  expect(hook.brief).toContain('are kept at the end,');
  expect((await analysed('leak_output_list')).verdict.text).toContain('at the peak');
});

it('advises against graphs by whether the program trains anything', async () => {
  const firstOf = async (key: string) => (await analysed(key)).verdict.advice[0].id;
  expect(await firstOf('leak_loss_graph')).toBe('detach');
  expect(await firstOf('leak_output_list')).toBe('no-grad');
});

it('says what the rest of the run needs, where graphs that pile up lower its peak by less than they take', async () => {
  const [device] = contextsOf(loadCapture('eval_without_no_grad.pickle.gz'));
  const { findings } = await analysisOf(device);
  const known = caseOf(new AnalysisInput(device), findings);
  const diagnosis = { ...diagnose(known), severity: 'high' as const };
  const figures = { known, diagnosis, besides: '', savedBytes: 0 };
  const unknown = { forecast: undefined, needBytes: undefined, holder: undefined };
  expect(textOf({ ...figures, ...unknown })).toMatch(
    / keep up to .* Without them the peak would be .* lower: the rest of the run needs \d.*iB\.$/,
  );
});

it('says how many steps add something where most add nothing, and has one rate at the peak and at the end', async () => {
  const { brief } = (await analysed('others/vae_recons_all')).verdict;
  expect(brief).toContain('196.00 MiB more in each of 5 of 72 steps');
  expect((await analysed('leak_loss_graph')).verdict.brief).not.toContain('average');
  const { account, accountAtEnd } = await analysed('others/unet_preds_ring');
  const [atPeak, atEnd] = [account, accountAtEnd].map(({ entries }) =>
    entries.find(({ kind, isGrowing }) => kind === 'kept' && isGrowing),
  );
  expect(atPeak?.bytes).not.toBe(atEnd?.bytes);
  expect(atPeak?.rate).toEqual(atEnd?.rate);
});

it('lets no line ask for what backward asked for', async () => {
  const textOf = async (key: string) => {
    const { text, also, does } = (await analysed(key)).verdict;
    return [does, text, ...also].join(' ');
  };
  const logits = await textOf('others/translation_oom_logits');
  expect(logits).toContain('asked for it in backward');
  expect(logits).toContain('in the backward pass of main.py:42 (train)');
  expect(await textOf('others/gpt_oom_first_optimizer_step')).toContain(
    'The backward pass asked for the 196.50 MiB',
  );
  expect(await textOf('others/cifar_oom_batch')).toContain('resnet.py:37 (forward) asked for the');
});

it('says of a setting that serves the request only that, as the failed run has no peak to compare with', async () => {
  const [first] = (await analysed('oom_fragmented')).verdict.advice;
  expect([first?.id, first && gainText(first)]).toEqual([
    'expandable-segments',
    'Serves the failed request; more would follow (confidence low).',
  ]);
  const { advice } = (await analysed('frag_gpt_varlen')).verdict;
  const setting = advice.find(({ id }) => id === 'expandable-segments');
  expect(setting && gainText(setting)).toMatch(/^Lowers the peak by \d/);
});

it('is calm if a library retried with less, and severe if a request also failed', async () => {
  const conv = '@conv.py:5 forward < train.py:3 step';
  const text = `+A 1Mi ${conv}\n oom 300Mi ${conv}\n +B 2Mi ${conv}\n -B\n -A`;
  const toneOf = async (drawn: string) => {
    const [context] = contextsOf(snapshotFromText(drawn).snapshot);
    return (await analysisOf(context)).verdict.tone;
  };
  expect(await toneOf(text)).toBe('calm');
  expect(await toneOf(`${text}\n oom 400Mi ${conv}`)).toBe('severe');
});

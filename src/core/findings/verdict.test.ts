import { describe, expect, it } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { type Analysis, analyse } from './analyse.ts';
import { type ChecklistItem, checklist } from './checklist.ts';
import { type Verdict, verdictOf } from './verdict.ts';
import { lineOf } from './verdict-line.ts';

const known = new Map<string, Promise<Analysis>>();

/** Each capture is analysed once for all tests. */
function analysed(name: string): Promise<Analysis> {
  const before = known.get(name);
  if (before !== undefined) return before;
  const [context] = contextsOf(loadCapture(`${name}.pickle.gz`));
  const analysis = analyse(context);
  known.set(name, analysis);
  return analysis;
}

async function verdict(name: string): Promise<Verdict> {
  const found = verdictOf(await analysed(name));
  if (found === undefined) throw new Error('OOMs were looked for');
  return found;
}

describe('the verdict', () => {
  it.each([
    ['oom_fragmented', 'severe', /^Out of memory because the memory is fragmented: 379\.75 MiB/],
    [
      'oom_batch_too_big',
      'severe',
      /^Out of memory at your process's own limit of about 12 GiB \(set_per_process_memory_fraction\), with 118\.21 GiB of the GPU free: .* 512\.00 MiB more was requested/,
    ],
    ['leak_forward_hook', 'warning', /^No out-of-memory error in this file, but:$/],
    ['streams_record_stream', 'warning', /^No out-of-memory error in this file, but:$/],
    [
      'kv_cache_generate',
      'calm',
      /^No out-of-memory error, and no serious problem: 3 small findings below\.$/,
    ],
    ['train_gpt_small', 'calm', /^No out-of-memory error, and no problem found\.$/],
    ['train_ring_truncated', 'unknown', /^We can't tell whether memory ran out\. .*\.$/],
    ['no_history', 'unknown', /^We can't tell whether memory ran out\. .*\.$/],
  ])('%s: %s', async (name, tone, text) => {
    const found = await verdict(name);
    expect(found.tone).toBe(tone);
    expect(found.text).toMatch(text);
    expect(found.also.length > 0).toBe(tone === 'warning' || tone === 'severe');
  });

  it('is calm where a library asked again for less, and grave where a request failed too', async () => {
    const conv = '@conv.py:5 forward < train.py:3 step';
    const text = `+A 1Mi ${conv}\n oom 300Mi ${conv}\n +B 2Mi ${conv}\n -B\n -A`;
    const toneOf = async (drawn: string) => {
      const [context] = contextsOf(snapshotFromText(drawn).snapshot);
      return verdictOf(await analyse(context))?.tone;
    };
    expect(await toneOf(text)).toBe('calm');
    expect(await toneOf(`${text}\n oom 400Mi ${conv}`)).toBe('severe');
  });

  it('names the lines that hold the memory, or the gaps', async () => {
    expect((await verdict('oom_fragmented')).also).toEqual([
      'scenarios.py:323 (_fragment) keeps 3.74 GiB of free memory from being given back: it pins 20 segments.',
      'Your process hit its own memory limit of about 6 GiB (set_per_process_memory_fraction); the GPU still had 130.88 GiB free.',
    ]);
    expect((await verdict('oom_batch_too_big')).also).toEqual([
      'In 96 calls before, that line asked for at most 256.00 MiB, so this batch or sequence is larger (2.0 times). Most of what was live: 3.50 GiB from scenarios.py:48 (attention), 3.50 GiB from scenarios.py:52 (mlp), 1.00 GiB from scenarios.py:47 (attention).',
    ]);
    const [gaps] = (await verdict('frag_gpt_varlen')).also;
    expect(gaps).toMatch(
      /10\.50 GiB \(66%\) of what PyTorch reserved was never needed.* scenarios\.py:47 \(attention\) asked for 118 different sizes/,
    );
  });

  it.each([
    [
      'oom_fragmented',
      'Out of memory: fragmented. 3.76 GiB is free in gaps.',
      [323, 'pins memory'],
    ],
    [
      'oom_batch_too_big',
      'Out of memory: this batch asked for 2.0 times as much as any before.',
      [83, 'gets the larger batch'],
    ],
    [
      'frag_gpt_varlen',
      'No OOM, but fragmentation: 10.50 GiB of 15.86 GiB was never needed.',
      [47, 'asks for many sizes'],
    ],
    [
      'leak_output_list',
      'No OOM, but a leak of 47.06 MiB every step, a whole graph.',
      [262, 'allocates it'],
    ],
    [
      'near-miss/leak_until_oom',
      'Out of memory after 27 steps: a leak of 16.00 MiB every step.',
      [375, 'allocates it'],
    ],
    [
      'eval_without_no_grad',
      'No OOM, but 5 forward passes kept 6.06 GiB for no backward.',
      [385, 'calls the model'],
    ],
    [
      'streams_record_stream',
      'No OOM, but 3.13 GiB that was freed waits for another stream.',
      [421, 'allocates it'],
    ],
    [
      'near-miss/leak_ring_truncated',
      "A leak of 64.00 KiB every step. We can't tell whether memory ran out.",
      [351, 'allocates it'],
    ],
  ])('%s, in brief: %s', async (name, text, [line, does]) => {
    const { brief, line: shown, lead } = await verdict(name);
    expect(brief).toBe(text);
    expect(shown).toMatchObject({ frame: { line }, does });
    // The card that comes first is of that line too.
    expect(lead && lineOf(lead)).toEqual(shown);
  });

  it('names no line where nothing matters', async () => {
    expect(await verdict('train_gpt_small')).toMatchObject({ line: undefined, lead: undefined });
  });

  it.each([
    [
      'oom_fragmented',
      [/^Set PYTORCH_ALLOC_CONF=expandable/, /^Raise or remove .*memory_fraction/],
    ],
    [
      'oom_batch_too_big',
      [
        /^Look at what scenarios\.py:\d+ \(\w+\) was given in this step: the request is 2\.0 times/,
        /^Raise or remove .*memory_fraction/,
      ],
    ],
    ['frag_gpt_varlen', [/^Set PYTORCH_ALLOC_CONF=expandable/, /^Make sizes repeat/]],
    ['leak_forward_hook', [/handle\.remove\(\)/, /^Overwrite the last capture/]],
    ['train_gpt_small', []],
    ['kv_cache_generate', []],
  ])('%s: says what to try first', async (name, texts) => {
    expect((await verdict(name)).advice).toEqual(texts.map((text) => expect.stringMatching(text)));
  });

  it('of an OOM after a leak leads with the leak', async () => {
    const { text, also, advice, findings } = await verdict('near-miss/leak_until_oom');
    expect(text).toMatch(
      /^Out of memory after 27 steps because capture\.py:375 \(run\) keeps 16\.00 MiB .*; without that the run needs about 86\.09 MiB\.$/,
    );
    expect(also[0]).toMatch(
      /^capture\.py:375 \(run\) asked for 16\.00 MiB and ran out of memory\.$/,
    );
    expect(advice[0]).toMatch(/^Store tensor\.detach\(\)\.cpu\(\)/);
    expect(findings.map(({ detector }) => detector)).toEqual(['growth', 'oom']);
  });

  it('waits for OOMs to be looked for, and gets surer afterwards', async () => {
    const { findings, checks } = await analysed('leak_forward_hook');
    expect(verdictOf({ findings, checks: [] })).toBeUndefined();
    const [growth, oom] = checks;
    expect([growth.detector, oom.detector]).toEqual(['growth', 'oom']);
    expect(verdictOf({ findings: [], checks: [growth, oom] })?.tone).toBe('calm');
    expect(verdictOf({ findings, checks: [growth, oom] })?.tone).toBe('warning');
  });

  it('is of the last OOM of several', async () => {
    const { findings, checks } = await analysed('oom_fragmented');
    const oom = findings.filter(({ detector }) => detector === 'oom');
    const later = oom.map((one) => ({
      ...one,
      headline: 'The later one.',
      events: { first: 9e6, last: 9e6 },
    }));
    expect(verdictOf({ findings: [...later, ...findings], checks })?.text).toBe('The later one.');
  });

  it('counts what it has no room for', async () => {
    const { findings, checks } = await analysed('leak_forward_hook');
    const leaks = findings.filter(({ severity }) => severity !== 'low');
    const many = [...leaks, ...leaks, ...leaks, ...leaks, ...leaks];
    expect(verdictOf({ findings: many, checks })?.also.at(-1)).toBe('And 4 findings more, below.');
  });
});

const statesOf = (items: readonly ChecklistItem[]) =>
  Object.fromEntries(items.map(({ label, status }) => [label, status]));

describe('the checklist', () => {
  it('goes through what a person would, in that order', async () => {
    const items = checklist(await analysed('train_gpt_small'), { isExpandable: false });
    expect(items.slice(0, 9).map(({ label }) => label)).toEqual([
      'Reserved against allocated',
      'Batch size',
      'Inference mode',
      'Kept graphs',
      'Mixed precision',
      'Gradient accumulation',
      'Checkpointing',
      'Expandable segments',
      'Leak',
    ]);
    for (const { text } of items) expect(text).not.toBe('');
  });

  it('waits for each detector', () => {
    const items = checklist({ findings: [], checks: [] }, { isExpandable: false });
    expect(new Set(items.map(({ status }) => status))).toEqual(new Set(['waiting']));
  });

  it('says of a fragmented run that expandable segments would help', async () => {
    const analysis = await analysed('frag_gpt_varlen');
    const off = checklist(analysis, { isExpandable: false });
    expect(statesOf(off)).toMatchObject({
      'Reserved against allocated': 'found',
      'Expandable segments': 'found',
      Leak: 'clear',
    });
    expect(off.find(({ label }) => label === 'Expandable segments')?.text).toBe(
      'They are off. They would avoid most of the 10.50 GiB that was reserved and never needed.',
    );
    const on = checklist(analysis, { isExpandable: true });
    expect(statesOf(on)).toMatchObject({ 'Expandable segments': 'clear' });
  });

  it.each([
    ['leak_loss_graph', 'found', 'found'],
    ['leak_forward_hook', 'clear', 'found'],
    ['train_gpt_small', 'clear', 'clear'],
    ['protocols', 'cannot-tell', 'cannot-tell'],
  ])('%s: kept graphs %s, leak %s', async (name, graphs, leak) => {
    const items = checklist(await analysed(name), { isExpandable: undefined });
    expect(statesOf(items)).toMatchObject({ 'Kept graphs': graphs, Leak: leak });
  });

  it('estimates what remedies save, from what the peak is made of', async () => {
    const analysis = await analysed('train_gpt_small');
    const peak = analysis.findings.find(({ detector }) => detector === 'peak');
    const facts = new Map(
      peak?.facts.flatMap((fact) => ('bytes' in fact ? [[fact.label, fact.bytes]] : [])),
    );
    const items = checklist(analysis, { isExpandable: false });
    const batch = items.find(({ label }) => label === 'Batch size');
    expect(batch?.savedBytes).toBe((facts.get('activations') ?? 0) / 2);
    // A recording does not say which types are in use.
    expect(statesOf(items)).toMatchObject({ 'Mixed precision': 'cannot-tell' });
  });
});

import { describe, expect, it } from 'vitest';
import type { FileInfo } from '../../format/snapshot/tables.ts';
import { analysisOf } from '../../testing/analysed.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { buildFindings, type FindingsReport } from './findings.ts';
import { findingsText, frameText } from './findings-text.ts';
import { MARKDOWN, terminalWriter } from './text.ts';

const TERMINAL = terminalWriter({ columns: 80, color: false });

const FILE: FileInfo = {
  name: 'a_<b>.pickle',
  bytes: 1,
  container: 'pickle',
  protocol: 4,
  decoder: 'columnar',
  partial: undefined,
};

async function reportOf(name: string): Promise<FindingsReport> {
  const snapshot = loadCapture(`${name}.pickle.gz`);
  const analyses = [];
  for (const context of contextsOf(snapshot)) analyses.push(await analysisOf(context));
  return buildFindings(FILE, snapshot.devices, analyses);
}

describe('vramscope.findings/2', () => {
  it('has the keys of the contract', async () => {
    const report = await reportOf('leak_forward_hook');
    expect(JSON.parse(JSON.stringify(report))).toMatchObject({
      schema: 'vramscope.findings/2',
      file: { name: FILE.name, bytes: 1, container: 'pickle', protocol: 4 },
      devices: [
        {
          device: 0,
          account: {
            moment: { event: expect.any(Number), why: 'peak' },
            entries: expect.arrayContaining([
              expect.objectContaining({
                kind: 'kept',
                bytes: 40 * 524_288,
                growing: true,
                perStep: { bytes: 524_288, steps: 40, unit: 'step' },
              }),
            ]),
          },
          verdict: {
            cause: 'kept',
            pattern: 'kept-by-hook',
            lines: expect.arrayContaining([expect.objectContaining({ line: 271 })]),
            forecast: { stepsLeft: null, bytesPerStep: 524_288, unit: 'step' },
          },
          checks: expect.arrayContaining([
            { detector: 'growth', status: 'found', reason: '1 finding' },
            { detector: 'oom', status: 'clear', reason: expect.any(String) },
          ]),
          findings: expect.arrayContaining([
            expect.objectContaining({
              detector: 'growth',
              severity: 'high',
              bytes: 40 * 524_288,
              claim: expect.stringContaining('20.00 MiB in 40 tensors from'),
              frame: { file: expect.stringMatching(/scenarios\.py$/), line: 271, name: '<lambda>' },
              perStep: { bytes: 524_288, count: 1, steps: 40, unit: 'step' },
              events: { first: expect.any(Number), last: expect.any(Number) },
              advice: expect.arrayContaining([expect.stringContaining('handle.remove()')]),
            }),
          ]),
        },
      ],
    });
    const [{ findings }] = report.devices;
    expect(findings[0].stack[0]).toEqual(findings[0].frame);
  });

  it('has null if there is no line, and one entry per device', async () => {
    const report = await reportOf('near-miss/leak_gradients');
    expect(report.devices[0].findings[0]).toMatchObject({ frame: null, stack: [] });
    expect((await reportOf('two_devices')).devices.map(({ device }) => device)).toEqual([0, 1]);
  });
});

describe('for people', () => {
  it('text keeps to its columns, except for paths, and names every check', async () => {
    const report = await reportOf('leak_output_list');
    const lines = findingsText(report, TERMINAL);
    expect(lines.slice(0, 2)).toEqual(['1 finding in a_<b>.pickle, device 0', '']);
    expect(lines[2]).toMatch(/^No out-of-memory error, but autograd graphs from scenarios\.py:262/);
    expect(lines.filter((line) => line.startsWith('- Try: '))).toHaveLength(2);
    const account = lines.findIndex((line) => /^At the peak, .* reserved$/.test(line));
    expect(lines[account + 2]).toMatch(/^kept autograd graphs, scenarios\.py:262 .* GiB/);
    expect(lines).toContain('HIGH growth: kept-graph, 1.84 GiB kept in all');
    expect(report.devices[0].verdict).toMatchObject({ tone: 'warning', also: expect.any(Array) });
    const isFree = (line: string) => /\/|^ +bytes +|iteration in/.test(line);
    expect(lines.filter((line) => line.length > 80 && !isFree(line))).toEqual([]);
    for (const { detector } of report.devices[0].checks) {
      expect(lines.some((line) => line.includes(detector))).toBe(true);
    }
  });

  it('says calmly that nothing was found', async () => {
    const report = await reportOf('no_history');
    const lines = findingsText(report, TERMINAL);
    expect(lines[0]).toBe('a_<b>.pickle, device 0: no findings beside the verdict');
    const told = lines.filter((line) => line.includes('cannot tell'));
    expect(told).toHaveLength(report.devices[0].checks.length);
  });

  it('no name becomes markup in Markdown', async () => {
    const text = findingsText(await reportOf('leak_forward_hook'), MARKDOWN).join('\n');
    expect(text).toContain('## 1 finding in a\\_\\<b\\>.pickle');
    expect(text).toContain('### HIGH growth: kept-hook, 20.00 MiB kept in all');
    // The claim names the function <lambda>, which may stay unescaped inside a code span.
    const prose = text.split('```').filter((_, i) => i % 2 === 0);
    expect(prose.join('')).toContain('\\<lambda\\>');
    expect(prose.join('')).not.toMatch(/[^\\]<lambda/);
    expect(text).toContain('scenarios.py:271');
  });
});

describe('a recording of default stacks', () => {
  it.each(['frag_gpt_varlen', 'leak_loss_graph', 'oom_batch_too_big'])(
    '%s has no C++ types, in text and in Markdown',
    async (name) => {
      const report = await reportOf(`default_stacks/${name}`);
      const raw = /\?\?|std::|at::|c10::|tmpxft/;
      const text = findingsText(report, TERMINAL).join('\n');
      expect(text).toContain('scenarios.py');
      expect(text).not.toMatch(raw);
      expect(findingsText(report, MARKDOWN).join('\n')).not.toMatch(raw);
    },
  );

  it('names a backward node in a stack, and no unknown place', () => {
    const name = 'torch::autograd::generated::AddmmBackward0::apply(std::vector<at::Tensor>&&)';
    expect(frameText({ name, file: '??', line: 0 })).toBe('AddmmBackward0 (backward pass)');
    expect(frameText({ name: 'step', file: '/me/train.py', line: 21 })).toBe(
      '/me/train.py:21 (step)',
    );
  });
});

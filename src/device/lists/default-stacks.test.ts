/**
 * Programs recorded twice: with Python stacks, and with PyTorch's default, which includes C++ frames. Tables and
 * legends name the same lines with the same bytes.
 */

import { describe, expect, it } from 'vitest';
import { makeColoring } from '../../draw/coloring/colorings.ts';
import { type Legend, legendAt } from '../../draw/coloring/legend.ts';
import { STACK_CLASSES } from '../../draw/coloring/site-colors.ts';
import { TimelineIndex } from '../../draw/timeline/timeline-index.ts';
import { loadCapture, pairNames } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { callSiteTable } from '../model/call-sites.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { frameLabel, functionText } from '../model/frame-text.ts';
import { matchAllocations } from '../search/match-search.ts';
import { searchTerm } from '../search/qualifier.ts';
import { type CallSiteRow, callSiteRow } from './call-site-table.ts';

/** Must not appear on screen. */
const RAW = /\?\?|std::|at::|c10::|tmpxft|</;
/** TorchInductor names a file by a hash that differs from run to run. */
const GENERATED = /\bc[a-z\d]{50,}\.py/;
const NAMES = [
  ...['leak_loss_graph', 'oom_batch_too_big', 'frag_gpt_varlen', 'eval_without_no_grad'].map(
    (name) => [name, `${name}.pickle.gz`, `default_stacks/${name}.pickle.gz`],
  ),
  ...['leak_hf_trainer', 'gpt_checkpoint', 'compiled', 'lora', 'cuda_graph'].map((name) => {
    return [name, `pairs/${name}.python.pickle.gz`, `pairs/${name}.all.pickle.gz`];
  }),
];

const contextOf = (name: string): DeviceModel => contextsOf(loadCapture(name))[0];

function rowsOf(context: DeviceModel): readonly CallSiteRow[] {
  const table = callSiteTable(context, undefined);
  return Array.from({ length: table.length }, (_, row) => callSiteRow(context, table, row));
}

/** One row per Python call site, and one for everything that ran no Python. */
function linesOf(context: DeviceModel): string[] {
  let [otherBytes, otherCount] = [0, 0];
  const lines: string[] = [];
  for (const { line, totalBytes, allocations, peakBytes } of rowsOf(context)) {
    const { topFrame, leafFrame } = line;
    if (topFrame === undefined || topFrame.kind === 'cpp') {
      otherBytes += totalBytes;
      otherCount += allocations;
      continue;
    }
    const via = leafFrame === undefined ? '' : ` → ${frameLabel(leafFrame)}`;
    const text = `${frameLabel(topFrame)}${via} ${totalBytes} ${allocations} ${peakBytes}`;
    lines.push(text.replace(GENERATED, 'generated.py'));
  }
  return [...lines.sort(), `without Python: ${otherBytes} ${otherCount}`];
}

function legendOf(context: DeviceModel, colorBy: 'stack' | 'site'): Legend {
  const { replay, trace } = context;
  const index = new TimelineIndex(replay, trace.events.length, trace.events.timeUs);
  const coloring = makeColoring(context, colorBy, colorBy === 'stack' ? STACK_CLASSES : 14);
  return legendAt(context, index, colorBy, coloring, replay.peaks.activeBytes.event);
}

/** Entries for Python lines, without callers, which depend on the rest of the legend. */
const pythonEntries = ({ entries }: Legend) =>
  entries
    .filter(({ label, term }) => term !== undefined && !label.endsWith('(backward pass)'))
    .map(
      ({ label, bytes, count }) =>
        `${label.replace(/ · (called from|by way of) .*/, '')} ${bytes} ${count}`,
    );

it('the programs are among those recorded twice', () => {
  for (const [, python] of NAMES.slice(4)) {
    expect(pairNames()).toContain(python.replace('.python.pickle.gz', ''));
  }
});

describe.each(NAMES)('%s', (_name, python, all) => {
  it('has the same rows in the table of call sites', () => {
    expect(linesOf(contextOf(all))).toEqual(linesOf(contextOf(python)));
  });

  it.each(['stack', 'site'] as const)('has the same lines in the legend by %s', (colorBy) => {
    const [own, other] = [legendOf(contextOf(python), colorBy), legendOf(contextOf(all), colorBy)];
    expect(other.totalBytes).toBe(own.totalBytes);
    const [expected, found] = [pythonEntries(own), pythonEntries(other)];
    expect(found.length).toBeGreaterThan(0);
    // Backward nodes, which Python stacks cannot distinguish, take the places of the lightest lines.
    expect(expected.slice(0, found.length)).toEqual(found);
    for (const { label } of other.entries) expect(label).not.toMatch(RAW);
    const labels = other.entries.map(({ label }) => label);
    expect(new Set(labels).size).toBe(labels.length);
  });

  it('names what ran no Python by its node or operator', () => {
    const context = contextOf(all);
    for (const { line } of rowsOf(context)) {
      if (line.topFrame?.kind !== 'cpp') continue;
      expect(functionText(line.topFrame)).toMatch(/^\w+ \(backward pass\)$/);
    }
  });
});

it('a site in the search finds a whole row of the table, whichever path C++ took', () => {
  const context = contextOf('default_stacks/frag_gpt_varlen.pickle.gz');
  const ways = new Set<number>();
  for (const { label, allocations } of rowsOf(context)) {
    const { mask, count } = matchAllocations(context, searchTerm('site', label), undefined);
    const stacks = new Set(context.replay.allocations.stack.filter((_, id) => mask?.[id] === 1));
    expect(new Set([...stacks].map((stack) => context.stacks.siteOf(stack))).size).toBe(1);
    expect(count).toBe(allocations);
    ways.add(stacks.size);
  }
  expect(Math.max(...ways)).toBeGreaterThan(2);
});

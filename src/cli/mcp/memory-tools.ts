/** Tools that look into the memory itself: by line of code, and allocation by allocation. */
import { z } from 'zod';
import { liveAt } from '../../allocator/replay/trace-events.ts';
import { NEVER } from '../../allocator/replay/types.ts';
import { formatBytes } from '../../base/format.ts';
import {
  type AllocationRow,
  allocationRows,
  orderAllocations,
} from '../../device/lists/allocation-rows.ts';
import { earlierUses } from '../../device/model/allocation-details.ts';
import { deviceInfo, failedOoms } from '../../device/model/device-info.ts';
import { leafText } from '../../device/model/frame-text.ts';
import { absenceText, type CallSiteLine, callSiteLine } from '../../device/model/stacks.ts';
import { matchAllocations } from '../../device/search/match-search.ts';
import { loadRegexEngine, mayHoldRegex } from '../../device/search/regex.ts';
import { NO_STACK } from '../../format/snapshot/tables.ts';
import { type Json, pageOf } from './answer.ts';
import type { OneDevice } from './open-files.ts';
import { defineTool, OF_DEVICE, PAGE, placeText, refusal, SEARCH } from './tool.ts';

export const callSitesTool = defineTool({
  name: 'call_sites',
  title: 'Memory by line of code',
  description:
    'Which lines of the program hold the memory that is live at one event, the most bytes first. At the first OOM, else at the peak of allocated bytes, unless `at` says otherwise.',
  input: {
    ...OF_DEVICE,
    ...PAGE,
    ...SEARCH,
    at: z
      .union([z.number().int(), z.enum(['peak', 'oom', 'end'])])
      .optional()
      .describe('An event number, or: peak (of allocated bytes), oom (the first), end.'),
  },
  async answer(files, input) {
    const one = await files.device(input.file, input.device);
    const { stacks, replay } = one.context;
    const table = replay.allocations;
    const event = eventOf(one, input.at);
    const mask = await maskOf(one, input.search, event);
    const sites = new Map<number, { bytes: number; count: number; first: number }>();
    let liveBytes = 0;
    for (const id of liveAt(replay.allocations, event)) {
      if (mask !== undefined && mask[id] === 0) continue;
      const bytes = table.sizeBytes[id] ?? 0;
      const site = stacks.siteOf(table.stack[id] ?? NO_STACK);
      const sum = sites.get(site) ?? { bytes: 0, count: 0, first: id };
      sum.bytes += bytes;
      sum.count++;
      liveBytes += bytes;
      sites.set(site, sum);
    }
    const order = [...sites].sort(([, a], [, b]) => b.bytes - a.bytes);
    const rows = order.map(([site, { bytes, count, first }]): Json => {
      const isFromBefore = first < replay.allocations.preexisting;
      const line = lineText(callSiteLine(stacks, site, isFromBefore));
      return { bytes, size: formatBytes(bytes), allocations: count, line };
    });
    return pageOf({ event, liveBytes, live: formatBytes(liveBytes) }, rows, input);
  },
});

export const allocationsTool = defineTool({
  name: 'allocations',
  title: 'Single allocations',
  description:
    'Allocations that match a search, sorted: size, when allocated and freed (event numbers; freed null: still there at the end), stream, pool, line of code.',
  input: {
    ...OF_DEVICE,
    ...PAGE,
    ...SEARCH,
    sort: z
      .enum(['size', 'lifetime', 'cost', 'start', 'waste'])
      .default('size')
      .describe('Largest first; start: first allocated first. cost: size times lifetime.'),
  },
  async answer(files, input) {
    const one = await files.device(input.file, input.device);
    const mask = await maskOf(one, input.search, undefined);
    const isDescending = input.sort !== 'start';
    const order = { key: input.sort, isDescending, clock: 'events', at: undefined } as const;
    const ids = orderAllocations(one.context, mask, order);
    const earlier = earlierUses(one.context.replay.allocations);
    // A row takes some hundred bytes: more could not be shown, however long the list is.
    const shown = ids.subarray(input.offset, input.offset + Math.ceil(input.maxBytes / 100));
    const rows = allocationRows(one.context, earlier, shown, undefined).map(briefAllocation);
    return pageOf({}, rows, input, ids.length);
  },
});

function briefAllocation(row: AllocationRow): Json {
  return {
    name: row.label,
    bytes: row.blockBytes,
    size: formatBytes(row.blockBytes),
    requestedBytes: row.requestedBytes,
    allocatedAt: row.startEvent < 0 ? 'before the trace' : row.startEvent,
    freedAt: row.endEvent === NEVER ? null : row.endEvent,
    stream: row.stream,
    pool: row.pool,
    class: row.class,
    line: lineText(row.line),
  };
}

function lineText({ topFrame, leafFrame, stackKind }: CallSiteLine): string {
  const frame = topFrame ?? leafFrame;
  if (frame === undefined) return absenceText(stackKind);
  const place = placeText({ file: frame.filename, line: frame.line, name: frame.name });
  return leafFrame === undefined || frame === leafFrame
    ? place
    : `${place} · ${leafText(leafFrame)}`;
}

function eventOf(
  { context, deviceIndex }: OneDevice,
  at: number | 'peak' | 'oom' | 'end' | undefined,
): number {
  const info = deviceInfo(context, deviceIndex);
  const last = info.events - 1;
  if (typeof at === 'number') {
    if (at >= -1 && at <= last) return at;
    throw refusal(`There is no event ${at}: the trace has events 0 to ${last}.`);
  }
  const oom = failedOoms(info)[0]?.event;
  if (at === 'end') return last;
  if (at === 'oom' && oom === undefined) throw refusal('No OOM was recorded on this device.');
  if (at !== 'peak' && oom !== undefined) return oom;
  return info.peaks.allocatedBytes.event;
}

async function maskOf(
  { context }: OneDevice,
  text: string,
  at: number | undefined,
): Promise<Uint8Array | undefined> {
  if (mayHoldRegex(text)) await loadRegexEngine();
  const { mask, problem } = matchAllocations(context, text, at);
  if (problem !== undefined)
    throw refusal(`Search, character ${problem.at + 1}: ${problem.message}`);
  return mask;
}

import {
  FlameContext,
  type FlameShape,
  flameStacks,
} from '../../device/flame-graph/flame-context.ts';
import { calleeTree, callerTree, flameGraph } from '../../device/flame-graph/flame-graph.ts';
import type { FlameOrder } from '../../device/flame-graph/flame-table.ts';
import { type FlameChoice, resolveDataset } from '../../device/flame-graph/stack-weights.ts';
import type { StackIndex } from '../../format/snapshot/tables.ts';
import { foldedStacks, speedscopeFile } from '../../output/export/flame-files.ts';
import type { OpenDevice } from '../open-device.ts';
import { type DeviceRequest, queryHandlers } from '../queries.ts';
import { transferring } from '../rpc.ts';

/** The weight, and the grouping into boxes. */
export interface FlameDataRequest extends DeviceRequest, FlameChoice, FlameShape {
  readonly search: string;
  readonly onlyMatches: boolean;
}

export interface FlameRequest extends FlameDataRequest {
  readonly inverted: boolean;
  /** Path of the box to zoom into. */
  readonly root: string | undefined;
  /** Merges boxes narrower than this share of the zoomed box, 0 to 1. */
  readonly smallestShare: number;
}

export interface FlameRowsRequest extends FlameDataRequest {
  readonly order: FlameOrder;
  readonly from: number;
  readonly to: number;
}

export interface FlameExportRequest extends FlameDataRequest {
  readonly format: 'folded' | 'speedscope';
  /** The title written into the file. */
  readonly name: string;
}

export const flameGraphHandlers = queryHandlers({
  async flame(device, request: FlameRequest) {
    const { mask } = await device.matches(request.search, request.cursor);
    const { set, flame } = (await flameOf(device, request)) ?? {};
    const whole = flame && (request.inverted ? calleeTree : callerTree)(flame.weighed);
    const graph = whole && flameGraph(whole, flame.groups, request);
    const answer = {
      /** The resolved events; like the graph, undefined if a difference has nothing to compare. */
      set,
      graph,
      rowCount: flame?.rows.length ?? 0,
      /** The transforms, each with what it was applied to. */
      steps: flame?.steps ?? [],
      /** True if the search is valid and not empty; `matched` then says how much of each box matches. */
      isSearched: mask !== undefined,
      hasStacks: device.context.snapshot.stacks.length > 1,
    };
    return transferring(answer, graph?.boxes);
  },

  /** Rows from <= i < to; none if a difference has nothing to compare. */
  async flameRows(device, request: FlameRowsRequest) {
    const found = await flameOf(device, request);
    const { order, from, to } = request;
    return found?.flame.rows.page(order, from, to) ?? { length: 0, rows: [] };
  },

  /** The same row under another request; undefined if that has no such row. */
  flameRow: async (device, request: FlameDataRequest & { readonly key: string }) =>
    (await flameOf(device, request))?.flame.rows.find(request.key),

  flameStack: ({ context }, { stack }: { readonly stack: StackIndex }) =>
    context.stacks.view(stack),

  /** The file's content; empty if a difference has nothing to compare. */
  async flameExport(device, request: FlameExportRequest) {
    const found = await flameOf(device, request);
    if (found === undefined) return '';
    const { name, weight, format } = request;
    const isDifference = found.set.kind === 'difference';
    const stacks = flameStacks(found.flame);
    return format === 'folded'
      ? foldedStacks(stacks, isDifference)
      : JSON.stringify(speedscopeFile(stacks, { name, weight, isDifference }));
  },
});

const flameContextOf = ({ context }: OpenDevice): FlameContext => new FlameContext(context);

async function flameOf(device: OpenDevice, request: FlameDataRequest) {
  const set = resolveDataset(device.context, request);
  if (set === undefined) return undefined;
  const { weight, search, cursor, onlyMatches } = request;
  const { mask: matches } = await device.matches(search, cursor);
  const options = { set, weight, matches, onlyMatches };
  return { set, flame: device.once(flameContextOf).flame(request, options) };
}

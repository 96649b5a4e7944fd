/**
 * Who holds the memory that was live at snapshot time, from names that vramscope.record found in the process.
 *
 *   holderOf(context, id)   { name: 'the graph of losses[3]', kind: 'graph', owner: { name: 'losses', type: 'list', length: 60 } }
 *   holderTotals(context)   by owner, the largest first: what a verdict names
 *   holderShare(context)    how much of what was live has a name
 */

import { type AllocationIndex, type AllocationTable, NEVER } from '../../allocator/replay/types.ts';
import { getOrMake } from '../../base/collections.ts';
import { fileName } from '../../base/file-names.ts';
import { withArticle } from '../../base/format.ts';
import {
  HOLDER_KINDS,
  type HolderKind,
  type HolderOwner,
  type HolderTable,
} from '../../format/snapshot/tables.ts';
import type { DeviceModel } from './device-model.ts';

export interface HolderSource {
  readonly snapshot: Pick<DeviceModel['snapshot'], 'strings'> & {
    readonly holders?: HolderTable;
  };
  readonly replay: { readonly allocations: AllocationTable };
}

export interface Holder {
  /** The full path from a variable: 'losses[3]', 'the graph of losses[3]', 'model.0.weight.grad'. */
  readonly name: string;
  readonly kind: HolderKind;
  readonly owner: HolderOwner;
}

export const NO_HOLDERS =
  'This file has no names of variables: record it with vramscope.record, or write them with vramscope.holders.';
const NO_ROWS = new Int32Array(0);
const known = new WeakMap<AllocationTable, Int32Array>();

/** Allocation → row in the table of holders; -1 without a name. Undefined if the file has no names. */
export function holderRows({ snapshot, replay }: HolderSource): Int32Array | undefined {
  const { holders } = snapshot;
  const { allocations } = replay;
  if (holders === undefined) return undefined;
  const found = known.get(allocations);
  if (found !== undefined) return found;
  const rowAt = new Map<number, number>();
  for (let row = 0; row < holders.length; row++) rowAt.set(holders.address[row], row);
  // A storage begins where its block does; of all blocks at an address, only the last one can still be live.
  const { length, address, end } = allocations;
  const rows = new Int32Array(length).fill(-1);
  for (let id = 0; id < length; id++) {
    if (end[id] === NEVER) rows[id] = rowAt.get(address[id]) ?? -1;
  }
  known.set(allocations, rows);
  return rows;
}

/** Undefined without a name: it was freed, no variable leads to it, or the file has no names. */
export function holderOf(source: HolderSource, id: AllocationIndex): Holder | undefined {
  const { holders, strings } = source.snapshot;
  const row = holderRows(source)?.[id] ?? -1;
  if (holders === undefined || row < 0) return undefined;
  return {
    name: strings.get(holders.name[row]),
    kind: HOLDER_KINDS[holders.kind[row]],
    owner: holders.owners[holders.owner[row]],
  };
}

/** Largest first. An owner whose tensors also keep a graph appears twice. */
export function holderTotals(source: HolderSource) {
  const { holders } = source.snapshot;
  if (holders === undefined) return [];
  const { sizeBytes } = source.replay.allocations;
  const newTotal = (owner: HolderOwner, isGraph: boolean) => {
    /** `isGraph`: memory that autograd saved for a backward pass; the owner's tensors keep it alive. */
    return { owner, isGraph, bytes: 0, allocations: [] as AllocationIndex[] };
  };
  const totals = new Map<number, ReturnType<typeof newTotal>>();
  for (const [id, row] of (holderRows(source) ?? NO_ROWS).entries()) {
    if (row < 0) continue;
    const isGraph = HOLDER_KINDS[holders.kind[row]] === 'graph';
    const key = holders.owner[row] * 2 + Number(isGraph);
    const make = () => newTotal(holders.owners[holders.owner[row]], isGraph);
    const total = getOrMake(totals, key, make);
    total.bytes += sizeBytes[id];
    total.allocations.push(id);
  }
  return [...totals.values()].sort((a, b) => b.bytes - a.bytes);
}

/** The holder of each allocation, for a thread without the table of names. */
export interface AllocationOwners {
  /** Index into `owners`; -1 without a name. */
  readonly ownerOf: Int32Array;
  /** Two for each variable: itself, and the graph that it keeps. In words: '`losses`, a list of 60'. */
  readonly owners: readonly {
    readonly text: string;
    readonly isGraph: boolean;
    /** Of a container, else 0. */
    readonly length: number;
  }[];
}

/** Undefined if the file has no names. */
export function allocationOwners(source: HolderSource): AllocationOwners | undefined {
  const rows = holderRows(source);
  const { holders } = source.snapshot;
  if (rows === undefined || holders === undefined) return undefined;
  const { owners } = holders;
  return {
    ownerOf: rows.map((row) =>
      row < 0 ? -1 : 2 * holders.owner[row] + Number(HOLDER_KINDS[holders.kind[row]] === 'graph'),
    ),
    owners: owners.flatMap((owner) =>
      [false, true].map((isGraph) => ({
        text: heldText(owner, isGraph),
        isGraph,
        length: owner.length ?? 0,
      })),
    ),
  };
}

/** The holder and what it implies: a cycle lives until the next collection, an exception until its handler ends. */
function heldText(owner: HolderOwner, isGraph: boolean): string {
  const { via, through, file, line } = owner;
  if (via === 'cycle')
    return `a reference cycle${through === undefined ? '' : ` through \`${through}\``} (gc.collect() frees it)`;
  const where =
    file === undefined ? '' : ` (${fileName(file)}${line === undefined ? '' : `:${line}`})`;
  const how =
    via === undefined
      ? ''
      : `, through the traceback of ${via === 'exception' ? 'an exception' : 'the last exception'}`;
  return `${ownerText(owner, isGraph)}${where}${how}`;
}

/** Bytes of blocks live at the end, and of those with a name. Undefined if the file has no names. */
export function holderShare(source: HolderSource) {
  const rows = holderRows(source);
  if (rows === undefined) return undefined;
  const { sizeBytes, end, length } = source.replay.allocations;
  let liveBytes = 0;
  let namedBytes = 0;
  for (let id = 0; id < length; id++) {
    if (end[id] !== NEVER) continue;
    liveBytes += sizeBytes[id];
    if (rows[id] >= 0) namedBytes += sizeBytes[id];
  }
  return { liveBytes, namedBytes };
}

/** '`losses`, a list of 60', '`model`, a GPT'; 'the graph of `losses`, a list of 60' for memory saved by autograd. */
export function ownerText({ name, type, length }: HolderOwner, isGraph = false): string {
  const size = length === undefined ? '' : ` of ${length}`;
  return `${isGraph ? 'the graph of ' : ''}\`${name}\`, ${withArticle(type)}${size}`;
}

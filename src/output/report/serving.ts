/** A server's memory in `vramscope stats`, as JSON and as text. */

import { formatBytes } from '../../base/format.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { frameReport } from '../../device/model/frame-text.ts';
import {
  hasServing,
  type ServingPool,
  servingLens,
  servingPartText,
} from '../../device/serving/serving-lens.ts';
import { servingNotes } from '../../device/serving/serving-notes.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { textTable } from './text.ts';

export type ServingReport = ReturnType<typeof servingReport>;

/** Null for a program that trains and has no private pools. Σ parts[].bytes = reserved bytes after the event. */
export function servingReport(context: DeviceModel, at: EventIndex) {
  if (!hasServing(context)) return null;
  const lens = servingLens(context, at);
  const { event, isServer, parts, pools, largestBatch, sleep, offCard } = lens;
  return {
    event,
    isServer,
    parts,
    pools: pools.map(({ pool: _, line, curve: __, name = null, ...own }) => ({
      ...own,
      name,
      frame: frameReport(line),
    })),
    largestBatch: isServer ? largestBatch : null,
    sleep: sleep ?? null,
    /** By the ledger: reserved bytes that were not on the card, at most and at the last sample. */
    offCard: offCard ?? null,
    notes: servingNotes(lens),
  };
}

/** '(0, 3)  CUDA graph' with the name that the program gave it. */
export const poolLabel = ({ id, kind, name }: Pick<ServingPool, 'id' | 'kind' | 'name'>): string =>
  `${id} ${kind}${name === undefined ? '' : `, ${name}`}`;

/** Rows of tables, without a title. */
export function servingTables({ parts, pools, isServer }: ServingReport & object) {
  const row = ({ part, bytes, blocks }: (typeof parts)[number]) => {
    return [servingPartText(part).label, formatBytes(bytes), blocks === 0 ? '' : `${blocks}`];
  };
  const ofPool = ({ name, ...pool }: (typeof pools)[number]) => [
    poolLabel({ ...pool, name: name ?? undefined }),
    ...[pool.reservedBytes, pool.liveBytes, pool.strandedBytes, pool.peakLiveBytes].map(
      formatBytes,
    ),
  ];
  return [
    ...(isServer ? [textTable([['Reserved, by part', 'Bytes', 'Blocks'], ...parts.map(row)])] : []),
    ...(pools.length > 0
      ? [
          textTable([
            ['Private pools', 'Reserved', 'Live', 'Stranded', 'Peak live'],
            ...pools.map(ofPool),
          ]),
        ]
      : []),
  ];
}

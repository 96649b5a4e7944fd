/** Conditions on where an allocation lies: addresses, segments, streams; and which one it is. */
import type { AddressKey } from '../base/address.ts';
import { streamText } from '../device/allocation-details.ts';
import type { DeviceContext } from '../device/device-context.ts';
import { findAllocation } from '../device/labels.ts';
import type { AllocationIndex } from '../replay/types.ts';
import { maskOf } from './value-masks.ts';

/** Blocks that contain one of the addresses, whenever they lived. */
export function addressMask(
  { snapshot, replay }: DeviceContext,
  addresses: readonly bigint[],
): Uint8Array {
  const { length, address, sizeBytes } = replay.allocations;
  const keys = addresses
    .map((value) => snapshot.addresses.find(value))
    .filter((key) => key !== undefined);
  return maskOf(length, (id) => keys.some((key) => contains(address[id], sizeBytes[id], key)));
}

/** The allocation that is called so; -1 when none is. */
export function allocationCalled(
  { snapshot, replay }: DeviceContext,
  label: string,
): AllocationIndex {
  return findAllocation(replay.allocations, snapshot.addresses, label) ?? -1;
}

/**
 * Blocks in segments that contain an address, while those were there; `nth` takes only the nth
 * segment, from 0, that began at just that address. Of an expandable segment a row is a mapped piece.
 */
export function segmentMask(
  { snapshot, replay }: DeviceContext,
  address: bigint,
  nth: number | undefined,
): Uint8Array {
  const { segmentSpans: spans, allocations } = replay;
  const key = snapshot.addresses.find(address);
  const rows: number[] = [];
  for (let row = 0; row < spans.length && key !== undefined; row++) {
    if (contains(spans.address[row], spans.sizeBytes[row], key)) rows.push(row);
  }
  const starting = rows
    .filter((row) => spans.address[row] === key)
    .sort((a, b) => spans.start[a] - spans.start[b]);
  const chosen = nth === undefined ? rows : starting.slice(nth, nth + 1);
  return maskOf(allocations.length, (id) =>
    chosen.some(
      (row) =>
        contains(spans.address[row], spans.sizeBytes[row], allocations.address[id]) &&
        spans.start[row] <= allocations.start[id] &&
        allocations.start[id] < spans.end[row],
    ),
  );
}

const contains = (from: AddressKey, bytes: number, key: AddressKey): boolean =>
  from <= key && key < from + bytes;

/** Positions of the streams that are meant: the one with that handle, else the one at that position. */
export function streamMask(
  { trace, replay }: DeviceContext,
  wanted: bigint,
): { readonly mask: Uint8Array; readonly note: string | undefined } {
  const { streams } = trace;
  const { length, stream } = replay.allocations;
  const byHandle = streams.findIndex(
    ({ handle }) => BigInt.asUintN(64, handle) === BigInt.asUintN(64, wanted),
  );
  const position = byHandle < 0 && wanted < BigInt(streams.length) ? Number(wanted) : byHandle;
  if (position < 0) {
    const known = streams.map(streamText).join(', ');
    return {
      mask: new Uint8Array(length),
      note: `There is no stream ${wanted}${known === '' ? '' : `, only ${known}`}.`,
    };
  }
  return { mask: maskOf(length, (id) => stream[id] === position), note: undefined };
}

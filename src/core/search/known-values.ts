import { privatePoolText, streamText } from '../device/allocation-details.ts';
import type { DeviceContext } from '../device/device-context.ts';
import type { StringIndex } from '../snapshot/tables.ts';

/** What a device has to offer behind the keys of the search language; empty lists where nothing. */
export interface KnownValues {
  readonly phases: readonly string[];
  readonly categories: readonly string[];
  readonly compileContexts: readonly string[];
  /** As `streamText` and `privatePoolText` write them. */
  readonly streams: readonly string[];
  readonly privatePools: readonly string[];
}

/** Each once, in order of first appearance. */
export function knownValues(context: DeviceContext): KnownValues {
  const { trace } = context;
  const { category, compileContext } = trace.events;
  return {
    phases: [...new Set(context.annotations().map(({ name }) => name))],
    categories: textsIn(context, category),
    compileContexts: textsIn(context, compileContext),
    streams: trace.streams.map(streamText),
    privatePools: trace.pools.map(privatePoolText).filter((pool) => pool !== undefined),
  };
}

function textsIn({ snapshot }: DeviceContext, column: Int32Array | undefined): readonly string[] {
  const rows = new Set<StringIndex>(column);
  return [...rows].filter((row) => row > 0).map((row) => snapshot.strings.get(row));
}

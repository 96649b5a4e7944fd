import { streamText } from '../../model/allocation-details.ts';
import { maskOf } from '../masks.ts';
import type { AllocationQualifier } from '../qualifier.ts';

/** A handle, or else a position in the list of streams. */
export interface StreamCondition {
  readonly kind: 'stream';
  readonly stream: bigint;
}

const HANDLE_OR_POSITION = /^(0x[0-9a-f]{1,16}|\d{1,20})$/i;

export const STREAM: AllocationQualifier<StreamCondition> = {
  name: 'stream',
  help: 'a stream handle, or its position in the list',
  examples: ['stream:0'],
  parse: (value) =>
    HANDLE_OR_POSITION.test(value) ? { kind: 'stream', stream: BigInt(value) } : undefined,
  match({ trace, replay }, { stream: wanted }) {
    const { streams } = trace;
    const { length, stream } = replay.allocations;
    const byHandle = streams.findIndex(
      ({ handle }) => BigInt.asUintN(64, handle) === BigInt.asUintN(64, wanted),
    );
    const position = byHandle < 0 && wanted < BigInt(streams.length) ? Number(wanted) : byHandle;
    if (position < 0) {
      const known = streams.map(streamText).join(', ');
      const note = `There is no stream ${wanted}${known === '' ? '' : `, only ${known}`}.`;
      return { mask: new Uint8Array(length), note };
    }
    return { mask: maskOf(length, (id) => stream[id] === position) };
  },
  values: ({ trace }) => trace.streams.map(streamText),
  suggest: (streams) =>
    streams.map((stream) => ({
      term: streamTerm(stream),
      hint: stream === '0' ? 'the default stream' : '',
    })),
};

/** `stream` as `streamText` writes it: '0', '0x55d0c0de'. */
export function streamTerm(stream: string): string {
  return `stream:${stream}`;
}

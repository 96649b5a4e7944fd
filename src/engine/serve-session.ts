import type { TimelineFrame } from '../core/timeline/types.ts';
import type { SessionApi, SessionMethods } from './protocol.ts';
import { serve } from './rpc.ts';

/** Answers the calls of one page to a session; large results move instead of being copied. */
export function serveSession(port: MessagePort, session: SessionApi): void {
  serve<SessionMethods>(port, {
    open: ({ source, options }, call) => session.open(source, options, call),
    async frame(request, call) {
      const frame = await session.frame(request, call);
      call.transfer.push(...frameBuffers(frame));
      return frame;
    },
    async minimap(request, call) {
      const minimap = await session.minimap(request, call);
      call.transfer.push(...buffersOf([minimap.activeBytes, minimap.reservedBytes]));
      return minimap;
    },
    hit: (request) => session.hit(request),
    crosshair: (request) => session.crosshair(request),
    eventAt: (request) => session.eventAt(request),
    allocation: (request) => session.allocation(request),
    findAllocation: (request) => session.findAllocation(request),
    annotations: (request) => session.annotations(request),
    recycle: (request) => session.recycle(request),
  });
}

function frameBuffers({ pixels, states, lines }: TimelineFrame): Transferable[] {
  return buffersOf([pixels, states, ...Object.values(lines)]);
}

/** Shared memory, which we do not make, could not be transferred. */
function buffersOf(arrays: readonly ArrayBufferView[]): Transferable[] {
  return arrays.map(({ buffer }) => buffer).filter((buffer) => buffer instanceof ArrayBuffer);
}

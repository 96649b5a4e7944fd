import type { SessionApi, SessionMethods } from './protocol.ts';
import { type HandlerCall, type Handlers, serve } from './rpc.ts';
import { transferablesOf } from './transfer.ts';

type AnyMethod = (request: unknown, call: HandlerCall<unknown>) => Promise<unknown>;

/** Answers the calls of one page to a session; large results move instead of being copied. */
export function serveSession(port: MessagePort, session: SessionApi): void {
  const { open, ...methods } = session;
  const handlers = Object.entries(methods).map(([name, method]) => [
    name,
    answering(method as AnyMethod),
  ]);
  serve<SessionMethods>(port, {
    // One handler made for every method: their types, which the table loses, are those of SessionApi.
    ...(Object.fromEntries(handlers) as Omit<Handlers<SessionMethods>, 'open'>),
    open: ({ source, options }, call) => open(source, options, call),
  });
}

function answering(method: AnyMethod): AnyMethod {
  return async (request, call) => {
    const result = await method(request, call);
    call.transfer.push(...transferablesOf(result));
    return result;
  };
}

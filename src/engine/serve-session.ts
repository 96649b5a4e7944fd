import { createRpcProxy } from './create-rpc-proxy.ts';
import type { SessionApi, SessionMethods } from './protocol.ts';
import { type HandlerCall, type Handlers, serve } from './rpc.ts';
import { transferablesOf } from './transfer.ts';

type AnyMethod = (request: unknown, call: HandlerCall<unknown>) => Promise<unknown>;

/** Answers the calls of one page to a session; large results move instead of being copied. */
export function serveSession(port: MessagePort, session: SessionApi): void {
  const own: Pick<Handlers<SessionMethods>, 'open'> = {
    open: ({ source, options }, call) => session.open(source, options, call),
  };
  // One handler made for every other method: their types are those of SessionApi.
  serve(
    port,
    createRpcProxy<Handlers<SessionMethods>>(own, (name) => answering(session, name)),
  );
}

function answering(session: SessionApi, name: string): AnyMethod | undefined {
  const method: AnyMethod | undefined = Reflect.get(session, name);
  if (method === undefined) return undefined;
  return async (request, call) => {
    const result = await method(request, call);
    call.transfer.push(...transferablesOf(result));
    return result;
  };
}

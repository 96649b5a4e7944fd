/** The replay worker, which the session worker starts. */
import { outside } from '../rpc.ts';
import { servePartialReplay } from './partial-replay.ts';

servePartialReplay(outside);

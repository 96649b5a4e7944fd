/** A worker of the ranks page. */
import { sourceOf } from '../byte-source.ts';
import { outside } from '../rpc.ts';
import { serveRanks } from './serve-ranks.ts';

serveRanks(outside, { version: String(import.meta.env.VITE_VERSION), sourceOf });

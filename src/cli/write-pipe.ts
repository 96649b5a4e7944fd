/** Writing to a pipe with a name, which may have no reader, or one that stops reading: Ctrl+C ends it at once. */
import { constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { InterruptedError } from './exit-codes.ts';

/** Between two looks whether somebody reads. */
const LOOK_MS = 50;

/** Resolves to how many bytes were written. @throws InterruptedError, or the system's error */
export async function writePipe(
  path: string,
  pieces: Iterable<string | Uint8Array>,
  interruption: AbortSignal,
): Promise<number> {
  try {
    const fd = await openForReader(path, interruption);
    // A thread that waits in a write could not be ended: a socket waits in the event loop.
    const pipe = new Socket({ fd, readable: false, writable: true });
    let bytes = 0;
    const counted = function* () {
      for (const piece of pieces) {
        const data = Buffer.from(piece);
        bytes += data.length;
        yield data;
      }
    };
    await pipeline(Readable.from(counted()), pipe, { signal: interruption });
    return bytes;
  } catch (error) {
    throw interruption.aborted ? new InterruptedError(interruption) : error;
  }
}

/** Waits until somebody reads. */
async function openForReader(path: string, signal: AbortSignal): Promise<number> {
  for (;;) {
    try {
      return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENXIO')) throw error;
      await setTimeout(LOOK_MS, undefined, { signal });
    }
  }
}

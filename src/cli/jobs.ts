/**
 * What the command line does for several files at once: one job a file, each in a worker thread of its own.
 * Requests and results are plain data.
 */

import { LoadError } from '../core/base/load-error.ts';
import { SideMaker } from '../core/compare/make-side.ts';
import type { ComparisonSide, Moment } from '../core/compare/side.ts';
import { deviceOrder } from '../core/report/device-order.ts';
import { openSnapshot } from './open-snapshot.ts';

export interface SideRequest {
  readonly path: string;
  /** Position in the file; undefined: the device with the highest peak. */
  readonly deviceIndex: number | undefined;
  readonly at: Moment;
  readonly allowPartial: boolean;
}

export interface Jobs {
  readonly comparisonSide: { readonly request: SideRequest; readonly result: ComparisonSide };
}
export type JobName = keyof Jobs;

/** A path of '-' is stdin, which worker threads do not have. */
interface Stdin {
  readonly stdin: AsyncIterable<Uint8Array>;
}

/** Does a job where it is called. Rejects with LoadError. */
export const JOBS: {
  readonly [K in JobName]: (request: Jobs[K]['request'], io: Stdin) => Promise<Jobs[K]['result']>;
} = {
  async comparisonSide({ path, deviceIndex, at, allowPartial }, io) {
    const { file, contexts } = await namingFile(path, () =>
      openSnapshot(io, path, { allowPartial }),
    );
    const position = deviceIndex ?? deviceOrder(contexts).shown[0] ?? 0;
    const context = contexts[position];
    if (context === undefined) {
      throw new LoadError({
        code: 'no-such-device',
        message: `${file.name} has no device at position ${position}; it has ${contexts.length}.`,
      });
    }
    return new SideMaker(context).side({ file, deviceIndex: position, at });
  },
};

/** Of several files, which one it is that cannot be read. */
async function namingFile<T>(path: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof LoadError) || error.failure.message.includes(path)) throw error;
    const { message } = error.failure;
    throw new LoadError({ ...error.failure, message: `${path}: ${message}` });
  }
}

/** A device as a file for other programs, made in the worker. */
import { LoadError } from '../../base/load-error.ts';
import { createPause } from '../../base/task.ts';
import type { ExportChoice, ExportKind } from '../../output/export/exports.ts';
import type { Query, QueryHandlers } from '../queries.ts';

export interface ExportRequest {
  readonly kind: ExportKind;
}

export interface ExportQueries {
  readonly exportChoices: Query<object, Readonly<Record<ExportKind, ExportChoice>>>;
  /** Reports the bytes made so far. The browser may keep a Blob on disk, so it can be larger than memory. */
  readonly exportFile: Query<ExportRequest, Blob, number>;
}

/** Loaded on demand: the export code is as large as all other handlers together, and rarely used. */
const loadExports = async () => (await import('../../output/export/exports.ts')).EXPORTS;

export const exportHandlers: QueryHandlers<ExportQueries> = {
  async exportChoices() {
    // A copy without functions, which cannot be sent.
    return JSON.parse(JSON.stringify(await loadExports()));
  },

  async exportFile({ context, clock }, { kind }, { signal, onProgress }) {
    const { make, mime } = (await loadExports())[kind];
    const parts: Blob[] = [];
    let bytes = 0;
    const pause = createPause({ clock, signal });
    try {
      for (const piece of make(context)) {
        const part = new Blob([piece]);
        parts.push(part);
        bytes += part.size;
        onProgress(bytes);
        await pause();
      }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new LoadError({ code: 'cannot-export', message: `${error.message}.` });
    }
    return new Blob(parts, { type: mime });
  },
};

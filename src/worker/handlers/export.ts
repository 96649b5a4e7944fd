/** A device as a file for other programs, put together in the worker. */
import { LoadError } from '../../base/load-error.ts';
import { createPause } from '../../base/task.ts';
import { type ExportKind, exportFormat } from '../../output/export/export-kinds.ts';
import type { Query, QueryHandlers } from '../queries.ts';

export interface ExportRequest {
  readonly kind: ExportKind;
}

export interface ExportQueries {
  /** Tells the bytes made so far. The browser may keep a Blob on disk: it can be larger than memory. */
  readonly exportFile: Query<ExportRequest, Blob, number>;
}

export const exportHandlers: QueryHandlers<ExportQueries> = {
  async exportFile({ context, clock }, { kind }, { signal, onProgress }) {
    // The code that makes them is as large as all other handlers together, and rarely used.
    const { exportFile } = await import('../../output/export/export-file.ts');
    const parts: Blob[] = [];
    let bytes = 0;
    const pause = createPause({ clock, signal });
    try {
      for (const piece of exportFile(context, kind)) {
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
    return new Blob(parts, { type: exportFormat(kind).mime });
  },
};

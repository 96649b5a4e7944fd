/** How each worker is started. The build of one file has workers.single.ts in place of this. */
import analysisScript from './analysis/analysis.worker.ts?worker&url';
import sessionScript from './session.worker.ts?worker&url';
import { startWorker } from './start-worker.ts';

export const newSessionWorker = (): Worker => startWorker(sessionScript);
export const newAnalysisWorker = (): Worker => startWorker(analysisScript);

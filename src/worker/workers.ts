/** Starts each worker of the page. The single-file build uses workers.single.ts instead. */
import analysisScript from './analysis/analysis.worker.ts?worker&url';
import ranksScript from './ranks/ranks.worker.ts?worker&url';
import sessionScript from './session.worker.ts?worker&url';
import { startWorker } from './start-worker.ts';

export const newSessionWorker = (): Worker => startWorker('session', sessionScript);
export const newAnalysisWorker = (): Worker => startWorker('analysis', analysisScript);
export const newRanksWorker = (): Worker => startWorker('ranks', ranksScript);

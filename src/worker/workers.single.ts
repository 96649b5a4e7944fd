/** Starts each worker in the single-file build, whose scripts are inside the page. */
import AnalysisWorker from './analysis/analysis.worker.ts?worker&inline';
import RanksWorker from './ranks/ranks.worker.ts?worker&inline';
import SessionWorker from './session.worker.ts?worker&inline';

export const newSessionWorker = (): Worker => new SessionWorker();
export const newAnalysisWorker = (): Worker => new AnalysisWorker();
export const newRanksWorker = (): Worker => new RanksWorker();

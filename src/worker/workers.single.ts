/** How each worker is started where there is but one file: its script is inside the page's. */
import AnalysisWorker from './analysis/analysis.worker.ts?worker&inline';
import RanksWorker from './ranks/ranks.worker.ts?worker&inline';
import SessionWorker from './session.worker.ts?worker&inline';

export const newSessionWorker = (): Worker => new SessionWorker();
export const newAnalysisWorker = (): Worker => new AnalysisWorker();
export const newRanksWorker = (): Worker => new RanksWorker();

/** Starts each worker in the single-file build, whose scripts are inside the page. */
import AnalysisWorker from './analysis/analysis.worker.ts?worker&inline';
import RanksWorker from './ranks/ranks.worker.ts?worker&inline';
import SessionWorker from './session.worker.ts?worker&inline';

export const newSessionWorker = (): Worker => new SessionWorker({ name: 'session' });
export const newAnalysisWorker = (): Worker => new AnalysisWorker({ name: 'analysis' });
export const newRanksWorker = (): Worker => new RanksWorker({ name: 'ranks' });

/** The analysis worker. */
import { createClock } from '../../base/task.ts';
import { outside } from '../rpc.ts';
import { serveAnalysis } from './serve-analysis.ts';

serveAnalysis(outside, createClock());

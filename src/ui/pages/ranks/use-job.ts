/** Reads a job's files in workers and says how far that is. */
import { useEffect, useState } from 'react';
import { isAbortError } from '../../../base/errors.ts';
import { LoadError, type LoadFailure } from '../../../base/load-error.ts';
import { createRanksClient, type RanksClient } from '../../../worker/ranks/client.ts';
import type { JobView, RankSource } from '../../../worker/ranks/protocol.ts';
import { useServices } from '../../shared/services.ts';
import { type GivenRanks, rankSources } from './rank-sources.ts';

export interface JobState {
  /** As far as it has been read; undefined before the first look. */
  readonly job: JobView | undefined;
  readonly client: RanksClient | undefined;
  readonly sources: readonly RankSource[];
  readonly done: number;
  readonly failure: Pick<LoadFailure, 'message' | 'advice'> | undefined;
}

const NOTHING: JobState = {
  job: undefined,
  client: undefined,
  sources: [],
  done: 0,
  failure: undefined,
};
/** While large files are read, those that are there already are shown; a thousand small ones are read in less. */
const REFRESH_MS = 2500;

export function useJob(given: GivenRanks): JobState {
  const { idle } = useServices();
  const [state, setState] = useState(NOTHING);
  useEffect(() => {
    const client = createRanksClient({ version: String(import.meta.env.VITE_VERSION) });
    let isOver = false;
    const update = (change: Partial<JobState>) => {
      if (!isOver) setState((before) => ({ ...before, ...change }));
    };
    const refresher = { timer: undefined as ReturnType<typeof setTimeout> | undefined };
    const refreshLater = () => {
      refresher.timer ??= setTimeout(() => {
        refresher.timer = undefined;
        client.job().then(
          (job) => update({ job }),
          // The reading itself says why.
          () => undefined,
        );
      }, REFRESH_MS);
    };
    async function read(): Promise<void> {
      const sources = await rankSources(given);
      update({ sources });
      await client.read(sources, (done) => {
        update({ done });
        refreshLater();
      });
      clearTimeout(refresher.timer);
      update({ job: await client.job(), done: sources.length });
    }
    setState({ ...NOTHING, client });
    idle.during(read).catch((error: unknown) => {
      if (!isAbortError(error)) update({ failure: failureOf(error) });
    });
    return () => {
      isOver = true;
      clearTimeout(refresher.timer);
      client.close();
    };
  }, [given, idle]);
  return state;
}

function failureOf(error: unknown): Pick<LoadFailure, 'message' | 'advice'> {
  if (error instanceof LoadError) return error.failure;
  return { message: 'The files could not be read.', advice: String(error) };
}

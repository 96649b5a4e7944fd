import type { CallOptions, SessionApi, SessionQueries } from '../worker/protocol.ts';

type Answers = {
  readonly [K in keyof SessionQueries]?: (
    request: SessionQueries[K]['request'],
    options?: CallOptions<SessionQueries[K]['progress']>,
  ) => Promise<SessionQueries[K]['result']>;
};

/** A session that answers the given queries and takes pixels back. */
export function fakeSession(answers: Answers): Pick<SessionApi, 'query' | 'recycle'> {
  return {
    query(name, request, options) {
      const answer: Answers[typeof name] = answers[name];
      if (answer === undefined) return Promise.reject(new Error(`Not asked here: ${name}`));
      return answer(request, options);
    },
    recycle: () => Promise.resolve(undefined),
  };
}

/**
 * The worker's second half: what answers queries, which nobody can ask before a file is open. It is fetched when the
 * first file is: sooner, compiling it would hold up the decoder.
 */
type Answers = typeof import('./answers.ts');

let loading: Promise<Answers> | undefined;

export function loadAnswers(): Promise<Answers> {
  // A fetch that failed is tried again.
  loading ??= import('./answers.ts').catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

/**
 * The worker's second half, which answers queries. Nobody can ask before a file is open, so it is loaded when the
 * first file has been read: any sooner, compiling it would delay the decoder.
 */
type Answers = typeof import('./answers.ts');

let loading: Promise<Answers> | undefined;

export function loadAnswers(): Promise<Answers> {
  // Retry a failed load the next time.
  loading ??= import('./answers.ts').catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

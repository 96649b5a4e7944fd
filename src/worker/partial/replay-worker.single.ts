/** In the single-file build, workers start no others: a file is shown once it has been read. */
export const startReplayWorker = (): undefined => undefined;

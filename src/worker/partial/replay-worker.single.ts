/** Where there is but one file, its workers start no others: a file is seen when it has been read. */
export const startReplayWorker = (): undefined => undefined;

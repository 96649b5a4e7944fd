/** Where there is but one file, its workers start no others: the session worker replays itself. */
export const newReplayWorker = undefined;

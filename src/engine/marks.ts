/** When the stages of the latest opening were reached, in milliseconds since the file was given. */
export type MarkName = 'firstByte' | 'decoded' | 'painted' | 'analysed';
export type MarkTimes = Readonly<Partial<Record<MarkName, number>>>;

export interface Marks {
  /** A file was given: forgets the last one's marks and starts the clock. */
  start(): void;
  /** Sets a mark that is not set yet: 'painted' is the first frame after opening, not the latest. */
  reach(name: MarkName): void;
  times(): MarkTimes;
}

export function createMarks(now: () => number = () => performance.now()): Marks {
  let startMs: number | undefined;
  let times: Partial<Record<MarkName, number>> = {};
  return {
    start() {
      startMs = now();
      times = {};
    },
    reach(name) {
      if (startMs !== undefined) times[name] ??= now() - startMs;
    },
    times: () => ({ ...times }),
  };
}

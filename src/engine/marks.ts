/** When the stages of the latest opening were reached, in milliseconds since the file was given. */
export type MarkName = 'firstByte' | 'decoded' | 'painted' | 'analysed';
export type MarkTimes = Readonly<Partial<Record<MarkName, number>>>;

export interface Marks {
  /** A file was given: forgets the last one's marks and starts the clock. */
  start(): void;
  /** Sets a mark that is not set yet: 'painted' is the first frame after opening, not the latest. */
  reach(name: MarkName): void;
  times(): MarkTimes;
  /** Resolves once the mark is set; never, when another file is given before that. */
  reached(name: MarkName): Promise<void>;
}

export function createMarks(now: () => number = () => performance.now()): Marks {
  let startMs: number | undefined;
  let times: Partial<Record<MarkName, number>> = {};
  let waiting: { readonly name: MarkName; readonly resolve: () => void }[] = [];
  return {
    start() {
      startMs = now();
      times = {};
      waiting = [];
    },
    reach(name) {
      if (startMs === undefined || times[name] !== undefined) return;
      times[name] = now() - startMs;
      const reached = waiting.filter((wish) => wish.name === name);
      waiting = waiting.filter((wish) => wish.name !== name);
      for (const { resolve } of reached) resolve();
    },
    times: () => ({ ...times }),
    reached: (name) =>
      new Promise((resolve) => {
        if (times[name] === undefined) waiting.push({ name, resolve });
        else resolve();
      }),
  };
}

/** Formats figures for the tables. */

export const seconds = (ms) => (ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(2)} s`);
export const megabytes = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;
const milliseconds = (ms) => `${ms.toFixed(1)} ms`;

/** Formats a value, or says that it was not measured. */
export const shown = (value, format) => (value === undefined ? 'not measured' : format(value));

/** p50 / p95 of a result of framesOf. */
export const frames = ({ frames: count, p50Ms, p95Ms }) =>
  `${shown(p50Ms, milliseconds)} / ${shown(p95Ms, milliseconds)} (${count} frames)`;

/** @param {readonly number[]} tasksMs of the main thread */
export function longTasks(tasksMs) {
  const long = tasksMs.filter((ms) => ms > 50);
  return long.length === 0 ? 'none' : `${long.length}, the longest ${seconds(Math.max(...long))}`;
}

/** For an odd number of times. */
export const median = (times) => [...times].sort((a, b) => a - b)[times.length >> 1];

/** '12 / 31 ms (30)': median, longest and count; a single time as it is. */
export function spread(times) {
  if (times === undefined || times.length === 0) return 'not measured';
  const sorted = [...times].sort((a, b) => a - b);
  if (sorted.length === 1) return seconds(sorted[0]);
  const middle = sorted[Math.floor(sorted.length / 2)];
  return `${middle.toFixed(0)} / ${sorted.at(-1).toFixed(0)} ms (${sorted.length})`;
}

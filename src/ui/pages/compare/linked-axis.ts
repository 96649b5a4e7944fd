/**
 * One axis that lines up two runs. By step, it interpolates events between the ends of two steps. By share of the run,
 * it also works if the steps of a run are unknown.
 */

export interface RunAxis {
  readonly events: number;
  /** Last event of each step, after the event before the first step; empty if the steps are unknown. */
  readonly stepBounds: Int32Array;
}

export type AxisLink = 'step' | 'share';

export const canLinkSteps = (a: RunAxis, b: RunAxis): boolean =>
  a.stepBounds.length > 1 && b.stepBounds.length > 1;

/** Converts an event to the common axis: steps, or shares of the run. */
export function toCommon(link: AxisLink, axis: RunAxis, event: number): number {
  return link === 'share'
    ? event / Math.max(1, axis.events)
    : interpolate(knots(axis), event, 0, 1);
}

export function fromCommon(link: AxisLink, axis: RunAxis, place: number): number {
  return link === 'share'
    ? place * Math.max(1, axis.events)
    : interpolate(knots(axis), place, 1, 0);
}

type Knot = readonly [event: number, step: number];

/**
 * Outside the steps, one axis unit is the whole recording before the first step or after the last one. So both runs
 * begin at -1, and everything before training is one step wide.
 */
function knots({ events, stepBounds }: RunAxis): Knot[] {
  const inside = Array.from(stepBounds, (event, step): Knot => [event + 1, step]);
  const first = inside[0]?.[0] ?? 0;
  const last = inside[inside.length - 1]?.[0] ?? events;
  const steps = inside.length - 1;
  return [
    ...(first > 0 ? [[0, -1] as Knot] : []),
    ...inside,
    ...(last < events ? [[events, steps + 1] as Knot] : []),
  ];
}

/** Linear between the knots; beyond them, continues the outermost segments. */
function interpolate(line: readonly Knot[], value: number, from: 0 | 1, to: 0 | 1): number {
  let at = 1;
  while (at < line.length - 1 && (line[at]?.[from] ?? 0) < value) at++;
  const [low, high] = [line[at - 1], line[at]];
  if (low === undefined || high === undefined || high[from] === low[from]) return value;
  return low[to] + ((value - low[from]) / (high[from] - low[from])) * (high[to] - low[to]);
}

/** What two files do not allow to compare, and what is left to compare all the same. */
import type { ComparisonSide } from './side.ts';

export function caveatsOf(a: ComparisonSide, b: ComparisonSide): string[] {
  const both = [
    { name: 'A', side: a },
    { name: 'B', side: b },
  ];
  return [
    ...sameFile(a, b),
    ...otherKind(a, b),
    ...both.flatMap(({ name, side }) => historyOf(name, side)),
    ...stacksOf(a, b),
    ...both.flatMap(({ name, side }) =>
      side.ooms === 0
        ? []
        : [`${name} ran out of memory: its peak is what it got, and not what it needed.`],
    ),
    ...both.flatMap(({ name, side }) => {
      const { partial } = side.file;
      if (partial === undefined) return [];
      return [
        `${name} was read only up to a fault (${partial}): its end is not the end of the run.`,
      ];
    }),
  ];
}

/** Equal in all that is compared: two recordings of the same program differ at least in a few events. */
function sameFile(a: ComparisonSide, b: ComparisonSide): string[] {
  const isSame =
    a.file.name === b.file.name &&
    a.file.bytes === b.file.bytes &&
    a.events === b.events &&
    a.deviceIndex === b.deviceIndex &&
    a.event === b.event;
  return isSame ? ['Both are the same file on the same device, so there is no difference.'] : [];
}

function otherKind(a: ComparisonSide, b: ComparisonSide): string[] {
  if (a.kind !== b.kind) {
    return ['One side is a GPU and the other is pinned host memory: only sizes can be compared.'];
  }
  if (a.device === b.device) return [];
  return [`A is device ${a.device} and B is device ${b.device}.`];
}

function historyOf(name: string, side: ComparisonSide): string[] {
  if (side.recording === 'none') {
    const hasStacks = side.sites.some(({ stack }) => stack > 0);
    const rest = hasStacks
      ? 'its blocks have call stacks and are compared by them'
      : 'only totals, settings and what was live can be compared, not call sites';
    return [`${name} has no history: it is compared as it was at the end, and ${rest}.`];
  }
  if (side.recording === 'complete') return [];
  const before = side.sites
    .filter((site) => site.class === 'before-recording')
    .reduce((sum, { bytes }) => sum + bytes, 0);
  if (before === 0) return [];
  const share = Math.round((100 * before) / Math.max(1, side.counters.allocatedBytes));
  return [
    `${share}% of ${name}’s memory is from before the recording and has no call site: it is a part of its own.`,
  ];
}

function stacksOf(a: ComparisonSide, b: ComparisonSide): string[] {
  if (a.hasCpp === b.hasCpp || a.events === 0 || b.events === 0) return [];
  const [name, other] = a.hasCpp ? ['A', 'B'] : ['B', 'A'];
  return [
    `${name} was recorded with C++ frames and ${other} without: what the backward pass allocates is compared by class.`,
  ];
}

/** Random allocator programs in the notation of `snapshotFromText`, so that a counterexample reads well. */
import fc from 'fast-check';

const MI = 2 ** 20;

const step = fc.record({
  kind: fc.nat(99),
  pick: fc.nat(),
  stream: fc.nat(1),
  /** Sizes for both pools, both sides of the 1 MiB split limit, and both sides of the segment sizes. */
  bytes: fc.oneof(
    fc.constantFrom(0, 1, 512, 513, 300_000, MI, MI + 1, 3 * MI, 19 * MI, 19 * MI + 5, 33 * MI),
    fc.integer({ min: 1, max: 24 * MI }),
  ),
});

/** Allocs, frees (some of them pending for a while) and an occasional empty_cache. */
export function allocatorProgram(settings: readonly string[]): fc.Arbitrary<string[]> {
  return fc.array(step, { minLength: 1, maxLength: 60 }).map((steps) => {
    const lines = [...settings];
    const live: string[] = [];
    const pending: string[] = [];
    const pickFrom = (names: string[], pick: number) => names.splice(pick % names.length, 1)[0];
    steps.forEach(({ kind, pick, stream, bytes }, i) => {
      if (kind < 5 && i > 0) lines.push('empty');
      else if (kind < 15 && pending.length > 0) lines.push(`-${pickFrom(pending, pick)}!`);
      else if (kind < 25 && live.length > 0) {
        const name = pickFrom(live, pick);
        pending.push(name);
        lines.push(`-${name}?`);
      } else if (kind < 50 && live.length > 0) lines.push(`-${pickFrom(live, pick)}`);
      else {
        live.push(`b${i}`);
        lines.push(`+b${i} ${bytes} stream=${stream} @step.py:${i + 1} run`);
      }
    });
    return lines;
  });
}

/**
 * Big arrays of an answer that move to the page instead of being copied. An answer marks them,
 * the port reads the mark; in between, and in tests, the answer is an ordinary object.
 *
 *   return transferring({ rows, total }, [rows]);   // rows has length 0 here once it is sent
 */
const marked = new WeakMap<object, readonly ArrayBufferView[]>();

/** Marks `arrays`, parts of `result` that nobody else keeps. */
export function transferring<T extends object>(
  result: T,
  arrays: readonly (ArrayBufferView | undefined)[],
): T {
  marked.set(
    result,
    arrays.filter((array) => array !== undefined),
  );
  return result;
}

/** What was marked; empty for anything else. Shared memory, which we do not make, cannot move. */
export function transferablesOf(result: unknown): Transferable[] {
  if (typeof result !== 'object' || result === null) return [];
  const buffers = (marked.get(result) ?? []).map(({ buffer }) => buffer);
  return [...new Set(buffers)].filter((buffer) => buffer instanceof ArrayBuffer);
}

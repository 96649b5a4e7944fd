/** A copy of twice the length. */
export function enlarged<T extends Uint8Array | Int32Array | Float64Array>(
  array: T,
  create: new (length: number) => T,
): T {
  const larger = new create(array.length * 2);
  larger.set(array as never);
  return larger;
}

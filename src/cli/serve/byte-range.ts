export interface ByteRange {
  readonly from: number;
  /** One past the last byte. */
  readonly to: number;
}

/**
 * One range of a `Range` header on a file of `size` bytes: 'bytes=0-99' is 0 to 100, 'bytes=-5' the
 * last five. 'unsatisfiable' when it lies behind the end; undefined (send all) for what is no such
 * header, or names several ranges.
 * @source RFC 9110, 14.1.2
 */
export function byteRange(
  header: string | undefined,
  size: number,
): ByteRange | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '');
  if (match === null) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const count = Math.min(Number(last), size);
    return count === 0 ? 'unsatisfiable' : { from: size - count, to: size };
  }
  const from = Number(first);
  const to = last === '' ? size : Math.min(Number(last) + 1, size);
  if (last !== '' && Number(last) < from) return undefined;
  return from >= size ? 'unsatisfiable' : { from, to };
}

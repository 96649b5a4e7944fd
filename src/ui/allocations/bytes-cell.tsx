import { formatBytes, formatExactBytes } from '../../core/base/format.ts';

/** '1023.99 KiB' is the widest: the next is 1.00 MiB. */
export const BYTES_WIDTH_PX = 98;

/** Rounded to be read, exact when pointed at. */
export function BytesCell({ bytes }: { readonly bytes: number }) {
  return <span title={formatExactBytes(bytes)}>{formatBytes(bytes)}</span>;
}

import { formatBytes, formatExactBytes } from '../../core/base/format.ts';

/** Rounded to be read, exact when pointed at. */
export function BytesCell({ bytes }: { readonly bytes: number }) {
  return <span title={formatExactBytes(bytes)}>{formatBytes(bytes)}</span>;
}

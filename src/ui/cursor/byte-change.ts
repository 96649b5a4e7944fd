import { formatBytes } from '../../core/base/format.ts';

/** '+1.50 GiB', '−512 bytes', '±0' */
export function byteChange(bytes: number): string {
  if (bytes === 0) return '±0';
  return bytes < 0 ? `−${formatBytes(-bytes)}` : `+${formatBytes(bytes)}`;
}

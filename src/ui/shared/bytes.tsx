import { formatBytes, formatExactBytes } from '../../base/format.ts';

interface BytesProps {
  readonly bytes: number;
  readonly as?: 'span' | 'strong' | 'b' | 'td' | 'dd';
}

/** Bytes, rounded; every digit in the title. */
export function Bytes({ bytes, as: Tag = 'span' }: BytesProps) {
  return <Tag title={formatExactBytes(bytes)}>{formatBytes(bytes)}</Tag>;
}

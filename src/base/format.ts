/**
 * Bytes, durations and counts as text. The format is the same in every locale, so reports can be compared and tests are
 * exact. NaN means "not known" and prints as 'unknown', never as 0.
 */
const UNKNOWN = 'unknown';
const BYTE_UNITS = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/** 1024-based, as PyTorch writes sizes in its messages: '512 bytes', '1.50 KiB', '2.05 GiB'. */
export function formatBytes(bytes: number): string {
  if (Number.isNaN(bytes)) return UNKNOWN;
  const sign = bytes < 0 ? '-' : '';
  let value = Math.abs(bytes);
  if (value < 1024) return `${sign}${value === 1 ? '1 byte' : `${formatCount(value)} bytes`}`;
  let unit = -1;
  // Compare the rounded value: 1,048,575 bytes are 1.00 MiB, not 1024.00 KiB.
  while (Number(value.toFixed(2)) >= 1024 && unit < BYTE_UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${sign}${value.toFixed(2)} ${BYTE_UNITS[unit]}`;
}

/** Of a file on disk: decimal, as in file managers: '19.8 MB'. */
export function formatFileSize(bytes: number): string {
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}

/** Every digit, for titles and tooltips: '2,201,170,944 bytes'. */
export function formatExactBytes(bytes: number): string {
  if (Number.isNaN(bytes)) return UNKNOWN;
  return Math.abs(bytes) === 1 ? `${bytes} byte` : `${formatCount(bytes)} bytes`;
}

/** K, KB and KiB all mean 1024: nobody uses decimal gigabytes for GPU memory. */
const BYTES_PATTERN = /^(\d+(?:\.\d+)?)\s*(?:([kmgtp])i?b?|b|bytes?)?$/i;
const POWERS = ['k', 'm', 'g', 't', 'p'];

/** Whole bytes from '16GiB', '64 MiB', '1.5G', '4Ki' or '512'; undefined for anything else. */
export function parseBytes(text: string): number | undefined {
  const match = BYTES_PATTERN.exec(text.trim());
  if (match === null) return undefined;
  const power = POWERS.indexOf((match[2] ?? '').toLowerCase()) + 1;
  const bytes = Math.round(Number(match[1]) * 1024 ** power);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** '512 µs', '1.23 ms', '2.05 s', '3 min 05 s', '2 h 03 min'. */
export function formatDurationUs(durationUs: number): string {
  if (Number.isNaN(durationUs)) return UNKNOWN;
  if (durationUs < 0) return `-${formatDurationUs(-durationUs)}`;
  if (durationUs < 1e3) return `${Math.round(durationUs)} µs`;
  if (durationUs < 1e6) return `${(durationUs / 1e3).toFixed(2)} ms`;
  if (durationUs < 60e6) return `${(durationUs / 1e6).toFixed(2)} s`;
  const seconds = Math.round(durationUs / 1e6);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${twoDigits(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} min`;
}

const twoDigits = (value: number): string => String(value).padStart(2, '0');

/** Every digit: '1,902,331'. */
export function formatCount(count: number): string {
  if (Number.isNaN(count)) return UNKNOWN;
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** '≥ 2.05 GiB' for a figure that may have been higher where the file doesn't show it. */
export const lowerBound = (text: string, isBound: boolean): string =>
  isBound ? `≥ ${text}` : text;

/** '1 step', '2 steps', '1,000 steps'. Pass `nouns` for an irregular plural. */
export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : nouns}`;
}

/** 'a step', 'an iteration' */
export const withArticle = (noun: string): string =>
  `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`;

/**
 * A nonzero share never prints as '0%': '40%', '0.4%', '< 0.1%'. With 1 decimal: '40.0%', '< 0.1%'. With 0 decimals:
 * '40%', '< 1%', and '> 99%' for anything short of 100%.
 */
export function formatPercent(share: number, decimals?: 0 | 1): string {
  if (Number.isNaN(share)) return UNKNOWN;
  const percent = share * 100;
  if (decimals === 0) {
    if (percent > 0 && percent < 1) return '< 1%';
    return percent > 99 && percent < 100 ? '> 99%' : `${Math.round(percent)}%`;
  }
  if (percent > 0 && percent < 0.1) return '< 0.1%';
  if (decimals === 1) return `${percent.toFixed(1)}%`;
  const isSmall = percent !== 0 && Math.abs(percent) < 1;
  return `${isSmall ? percent.toFixed(1) : Math.round(percent)}%`;
}

/** ' (40%)', to follow a number of bytes; '' where the whole is 0. */
export function shareNote(bytes: number, whole: number): string {
  return whole === 0 ? '' : ` (${formatPercent(bytes / whole)})`;
}

const COUNT_UNITS = ['k', 'M', 'G'] as const;

/** Two or three digits: '999', '12.3 k', '1.9 M', '22 M'. */
export function formatCountCompact(count: number): string {
  if (Number.isNaN(count)) return UNKNOWN;
  if (Math.abs(count) < 999.5) return String(Math.round(count));
  let value = count;
  let unit = -1;
  while (Math.abs(value) >= 999.5 && unit < COUNT_UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  const digits = Math.abs(value) < 99.95 ? value.toFixed(1).replace(/\.0$/, '') : value.toFixed(0);
  return `${digits} ${COUNT_UNITS[unit]}`;
}

export const sentenceCase = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

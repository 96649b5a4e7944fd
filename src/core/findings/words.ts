/** How findings name places and numbers. */
import { formatCount } from '../base/format.ts';
import type { FrameView } from '../query/types.ts';

/** 'train.py' of '/home/me/train.py' and 'C:\\me\\train.py'. */
export function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}

/** 'train.py:21 (step)'; says so where there is no frame. */
export function placeOf(frame: FrameView | undefined): string {
  if (frame === undefined) return 'a place that has no recorded stack';
  const line = frame.line > 0 ? `:${frame.line}` : '';
  return `${baseName(frame.filename)}${line} (${frame.name})`;
}

/** '40 %', and '0.4 %' where a whole number would be 0. */
export function percent(share: number): string {
  const value = share * 100;
  return `${value !== 0 && Math.abs(value) < 1 ? value.toFixed(1) : Math.round(value)} %`;
}

/** '1 step', '2 steps', '1,000 steps'; `nouns` where the plural is not made with s. */
export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : nouns}`;
}

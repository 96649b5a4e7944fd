/** How findings name places and numbers. */
import { fileName } from '../base/file-names.ts';
import type { FrameView } from '../device/types.ts';

/** 'train.py:21 (step)'; says so where there is no frame. */
export function frameLocation(frame: FrameView | undefined): string {
  if (frame === undefined) return 'a place that has no recorded stack';
  const line = frame.line > 0 ? `:${frame.line}` : '';
  return `${fileName(frame.filename)}${line} (${frame.name})`;
}

/** '40 %', and '0.4 %' where a whole number would be 0. */
export function percent(share: number): string {
  const value = share * 100;
  return `${value !== 0 && Math.abs(value) < 1 ? value.toFixed(1) : Math.round(value)} %`;
}

import { LoadError } from '../base/load-error.ts';

/** `byte` counts from the start of the unpacked compact snapshot. */
export function damagedAt(byte: number): LoadError {
  return new LoadError({
    code: 'compact-damaged',
    message: 'This compact snapshot is damaged or was cut short.',
    advice: 'Export it again, or open the snapshot that it was made from.',
    byte,
  });
}

export function newerVersion(version: number): LoadError {
  return new LoadError({
    code: 'compact-newer',
    message: `This was made by a newer vramscope (format ${version}), which this one cannot read.`,
    advice: 'Open it with the newer version; a report opens by itself in any browser.',
  });
}

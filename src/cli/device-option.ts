import { InvalidArgumentError } from 'commander';
import { LoadError } from '../core/base/load-error.ts';
import type { DeviceContext } from '../core/device/device-context.ts';

/** @throws LoadError 'no-such-device' */
export function deviceOf(contexts: readonly DeviceContext[], position: number): DeviceContext {
  const context = contexts[position];
  if (context !== undefined) return context;
  throw new LoadError({
    code: 'no-such-device',
    message: `This snapshot has no device at position ${position}; it has ${contexts.length}.`,
  });
}

/** For commander: a whole number from 0. */
export function parseWhole(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number from 0.');
}

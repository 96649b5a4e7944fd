import type { DetectorId } from '../core/findings/types.ts';

/** Thrown when all has been printed and a finding that --fail-on names is among it. */
export class FailedOn extends Error {
  override readonly name = 'FailedOn';

  constructor(detectors: readonly DetectorId[]) {
    super(`found what --fail-on names (${detectors.join(', ')})`);
  }
}

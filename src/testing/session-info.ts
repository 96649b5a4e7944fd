import type { SessionInfo } from '../core/device/types.ts';

/** What is said of an open file without a device: for tests of what goes around it. */
export function sessionInfoOf(name: string): SessionInfo {
  return {
    file: {
      name,
      bytes: 9,
      container: 'pickle',
      protocol: 4,
      decoder: 'columnar',
      partial: undefined,
    },
    devices: [],
    settings: {},
    warnings: [],
  };
}

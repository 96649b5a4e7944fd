import type { FileInfo } from '../snapshot/file-info.ts';
import type { Snapshot, SnapshotWarning } from '../snapshot/tables.ts';
import { unpairedAnnotations } from './annotations.ts';
import type { DeviceContext } from './device-context.ts';
import { deviceInfo } from './device-info.ts';
import type { SessionInfo } from './types.ts';

/** What is said of a file when it has been opened. `contexts` are those of the snapshot's devices. */
export function sessionInfo(
  file: FileInfo,
  snapshot: Snapshot,
  contexts: readonly DeviceContext[],
): SessionInfo {
  return {
    file,
    devices: contexts.map(deviceInfo),
    settings: snapshot.settings,
    warnings: [...snapshot.warnings, ...annotationWarnings(snapshot)],
  };
}

function annotationWarnings(snapshot: Snapshot): SnapshotWarning[] {
  const unpaired = unpairedAnnotations(snapshot.annotations);
  if (unpaired === 0) return [];
  const message = `${unpaired} annotations lack their START or END: those nearest to the edge of the recording reach to it, of others only a moment is known.`;
  return [{ code: 'unpaired-annotation', message }];
}

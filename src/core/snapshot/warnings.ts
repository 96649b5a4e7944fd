/** What the reader should know about a file that did open. */
import type { SnapshotSchema } from './schema.ts';
import type { DeviceTrace, SnapshotWarning } from './tables.ts';

export function collectWarnings(
  schema: SnapshotSchema,
  devices: readonly DeviceTrace[],
  partial: string | undefined,
): SnapshotWarning[] {
  const warnings: SnapshotWarning[] = [];
  const shown = devices.reduce((sum, { events }) => sum + events.length, 0);
  if (partial !== undefined) {
    warnings.push({
      code: 'partial-file',
      message: `Only the ${shown} whole events before the fault are shown: ${partial}`,
    });
  } else if (schema.events.length === 0) {
    warnings.push({
      code: 'no-trace',
      message: devices.some((device) => device.segments.length > 0)
        ? 'The file has no trace, only the memory at the moment of the dump: record with torch.cuda.memory._record_memory_history() to see what led there.'
        : 'The file has neither a trace nor segments: nothing was allocated, or nothing was recorded.',
    });
  }
  for (const { device, ringOverflowed } of devices) {
    if (ringOverflowed !== true) continue;
    warnings.push({
      code: 'ring-truncated',
      message: `The recording of device ${device} dropped its oldest events: raise max_entries to keep them.`,
    });
  }
  for (const [key, count] of schema.events.unknownKeyCounts) {
    warnings.push({
      code: 'unknown-key',
      message: `${count} events have a key '${key}' that this version does not know; it is shown as it is.`,
    });
  }
  for (const [word, count] of countWords(schema.events.unknownActions.values())) {
    warnings.push({
      code: 'unknown-action',
      message: `${count} events have an action '${word}' that this version does not know; they change no counter.`,
    });
  }
  for (const [field, { count, byte }] of schema.fields.badValues) {
    const where = byte === undefined ? '' : `, the first at byte ${byte}`;
    warnings.push({
      code: 'bad-value',
      message: `${count} values of '${field}' are of a kind it cannot have${where}; they are read as none.`,
    });
  }
  return warnings;
}

function countWords(words: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** What a long use consists of, in each engine. docs/reliability.md tells how to do more of it than `npm test` does. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

export const FILES = Number(process.env.ENDURANCE_FILES ?? 2);
export const CANCELS = Number(process.env.ENDURANCE_CANCELS ?? 2);
/** Without the time to start a browser. */
export const LIMIT_MS = 120_000 + FILES * 15_000 + CANCELS * 20_000;
/**
 * Allowed ratio of the memory at the end to that at the start. A short run mostly shows what the system happens to
 * keep.
 */
export const MOST_GROWTH = FILES < 100 ? 1.5 : 1.2;

/** Open at the start and at the end, and again after each cancelled opening. */
export const KEPT = 'train_gpt_small.pickle.gz';
export const OTHERS = [
  'oom_fragmented.pickle.gz',
  'train_annotated.pickle.gz',
  'two_devices.pickle.gz',
  'frag_gpt_varlen.pickle.gz',
  'no_history.pickle.gz',
  'protocols_trace_plot.html.gz',
  'leak_loss_graph.pickle.gz',
  'train_gpt_cpp_stacks.pickle.gz',
  'streams_record_stream.pickle.gz',
];
export const VIEWS = ['Timeline', 'Addresses', 'Flame', 'State', 'Events'];

/** The values in turn, for ever: 0 → a, 1 → b, 2 → a of [a, b]. */
export function inTurn<T>(values: readonly T[], index: number): T {
  return values[index % values.length] as T;
}

/** 60 MB of JSON in a small file: its parser lets nothing through, not even a cancelled opening. */
export function slowFile() {
  const event = { action: 'alloc', addr: 2 ** 40, size: 512, stream: 0, time_us: 1, frames: [] };
  const events = `${JSON.stringify(event)},`.repeat(600_000);
  const folder = mkdtempSync(join(tmpdir(), 'vramscope-endurance-'));
  const path = join(folder, 'slow.json.gz');
  writeFileSync(path, gzipSync(`{"segments":[],"device_traces":[[${events.slice(0, -1)}]]}`));
  return { path, remove: () => rmSync(folder, { recursive: true }) };
}

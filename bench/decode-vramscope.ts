/** Reads and replays a file like the session worker and the command line, and prints the time. */
import { createReadStream, statSync } from 'node:fs';
import { replayDevice } from '../src/allocator/replay/replay.ts';
import { readSnapshot } from '../src/format/input/read-snapshot.ts';

const path = process.argv[2] ?? '';
const source = {
  name: path,
  size: statSync(path).size,
  chunks: () => createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Uint8Array>,
};
const platform = {
  gunzip: () => {
    throw new Error('The benches read no gzip');
  },
};

const startMs = performance.now();
const { snapshot } = await readSnapshot(source, platform);
const decodedMs = performance.now();
const replays = snapshot.devices.map((device) => replayDevice(device, snapshot.settings));
const replayedMs = performance.now();

process.stdout.write(
  JSON.stringify({
    decodeMs: decodedMs - startMs,
    replayMs: replayedMs - decodedMs,
    events: snapshot.devices.reduce((sum, { events }) => sum + events.length, 0),
    allocations: replays.reduce((sum, { allocations }) => sum + allocations.length, 0),
    anomalies: replays.reduce((sum, { anomalyCount }) => sum + anomalyCount, 0),
  }),
);

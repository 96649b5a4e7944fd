/** Reads a file with pickleparser and prints the time. */
import { readFileSync } from 'node:fs';
import { Parser } from 'pickleparser';

const startMs = performance.now();
const snapshot = new Parser().parse(readFileSync(process.argv[2]));
const decodeMs = performance.now() - startMs;
const events = snapshot.device_traces.reduce((sum, trace) => sum + trace.length, 0);
process.stdout.write(JSON.stringify({ decodeMs, events }));

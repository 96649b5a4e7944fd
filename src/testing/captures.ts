/** The real captures in fixtures/, and what the allocator itself reported about them. */
import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { SnapshotDecoder } from '../format/snapshot/decoder.ts';
import type { Snapshot } from '../format/snapshot/tables.ts';

const FOLDER = 'fixtures';

interface Truth {
  /** torch.cuda.memory_stats() by device. */
  readonly stats: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly events: readonly number[];
  readonly segments: number;
  readonly oom_message: string | null;
}

/**
 * Names of the captures whose truth covers the whole process: 'train_gpt_small.pickle.gz', 'whatif_gc08/….pickle.gz'.
 * Excludes near-miss/, which tests the detectors: most of it was recorded after the model was built, when some of the
 * allocator's peaks had passed. Also excludes record/, which the Python package wrote: there the allocator's figures
 * are in the file itself.
 */
export function captureNames(): string[] {
  return allCaptureNames().filter((name) => !/^(near-miss|record)\//.test(name));
}

/**
 * Names of all captures, near-miss/ included. Excludes pairs/ and classes/, which hold each program twice, and
 * others/ and serving/, whose truth files have other forms: see verdict/others.test.ts and serving-lens.test.ts.
 */
export function allCaptureNames(): string[] {
  return namesBelow(FOLDER).filter((name) => !/^(pairs|classes|others|serving)\//.test(name));
}

/** 'pairs/gpt_train' for each program recorded with Python stacks and with all stacks. */
export function pairNames(): string[] {
  return namesBelow(`${FOLDER}/pairs`)
    .filter((name) => name.endsWith('.python.pickle.gz'))
    .map((name) => `pairs/${name.replace('.python.pickle.gz', '')}`);
}

/** 'classes/gpt.python.pickle.gz': runs in which every tensor was labeled, see class-truth.ts. */
export function labeledCaptureNames(): string[] {
  return namesBelow(`${FOLDER}/classes`).map((name) => `classes/${name}`);
}

/** 'pairs/settings/large_segment_size_mb_64/gpt_train.pickle.gz': programs of the pairs under other settings. */
export function settingsCaptureNames(): string[] {
  return namesBelow(`${FOLDER}/pairs/settings`).map((name) => `pairs/settings/${name}`);
}

function namesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.pickle.gz'))
    .sort();
}

/** The programs that were also recorded under other settings, except with expandable segments. */
export const isRepeated = (name: string): boolean =>
  /^(whatif_(?!expandable)|settings\/)/.test(name);

export function captureBytes(name: string): Uint8Array {
  return gunzipSync(readFileSync(`${FOLDER}/${name}`));
}

const loaded = new Map<string, Snapshot>();

/**
 * Read once and shared: all captures together take some 200 MB as tables, and 40 test files would otherwise decode
 * most of them again. So do not change them.
 */
export function loadCapture(name: string): Snapshot {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  const decoder = new SnapshotDecoder();
  decoder.push(captureBytes(name));
  const snapshot = decoder.finish();
  loaded.set(name, snapshot);
  return snapshot;
}

/** Stands for a device that the process did not use: a rank's truth omits these. */
const UNUSED: Truth['stats'][string] = {
  'requested_bytes.all.peak': 0,
  'allocated_bytes.all.peak': 0,
  'active_bytes.all.peak': 0,
  'reserved_bytes.all.peak': 0,
  'inactive_split_bytes.all.peak': 0,
  num_ooms: 0,
};

/** The allocator's figures for a device. */
export const statsOfDevice = ({ stats }: Truth, device: number): Truth['stats'][string] =>
  stats[device] ?? UNUSED;

/** protocols_p0 … p5 are one snapshot and share one truth. */
export function truthOf(name: string): Truth {
  const file = name.replace(/(_p\d)?\.pickle\.gz$/, '.truth.json');
  return JSON.parse(readFileSync(`${FOLDER}/${file}`, 'utf8'));
}

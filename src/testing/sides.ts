/** Sides of a comparison, from captures and from snapshots drawn as text. */
import { buildProfile } from '../analysis/compare/build-profile.ts';
import type { Moment, RunProfile } from '../analysis/compare/types.ts';
import { mainDeviceIndex } from '../device/model/main-device.ts';
import type { FileInfo, Snapshot } from '../format/snapshot/tables.ts';
import { loadCapture } from './captures.ts';
import { contextsOf } from './contexts.ts';
import { snapshotFromText } from './snapshot-from-text.ts';

/** Of the snapshot's main device. */
function sideOf(snapshot: Snapshot, name = 'x.pickle', at: Moment = 'peak'): RunProfile {
  const contexts = contextsOf(snapshot);
  const main = mainDeviceIndex(
    contexts.map(({ trace, replay }) => ({ kind: trace.kind, peaks: replay.peaks })),
  );
  return buildProfile(contexts[main], { file: fileOf(name), deviceIndex: main, at });
}

/** 'pairs/compare/base' */
export const captureSide = (name: string, at?: Moment): RunProfile =>
  sideOf(loadCapture(`${name}.pickle.gz`), name, at);

/** See snapshotFromText. */
export const drawnSide = (text: string, at?: Moment): RunProfile =>
  sideOf(snapshotFromText(text).snapshot, 'drawn.pickle', at);

const fileOf = (name: string): FileInfo => ({
  name,
  bytes: name.length,
  container: 'pickle',
  protocol: 4,
  decoder: 'columnar',
  partial: undefined,
});

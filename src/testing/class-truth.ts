/** How many bytes of a labeled recording get the class that the program itself gave them. */

import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { NEVER } from '../allocator/replay/types.ts';
import { classify } from '../device/classes/classify.ts';
import { MEMORY_CLASSES, type MemoryClassId } from '../device/classes/types.ts';
import type { DeviceModel } from '../device/model/device-model.ts';
import { labeledCaptureNames, loadCapture } from './captures.ts';
import { contextsOf } from './contexts.ts';

/** Time and address of an alloc event, and the class and name of the allocation. */
type ClassLabel = readonly [timeUs: number, address: number, of: string, name: string];

export interface ClassAccuracy {
  readonly peakBytes: number;
  /** Shares of bytes with the right class: of those live at the peak, and of bytes times lifetime. */
  readonly peakShare: number;
  readonly timeShare: number;
  /** Bytes at the peak by 'right class, assigned class'. */
  readonly confusion: ReadonlyMap<string, number>;
}

/** First words of the labels, each the beginning of a class's name. */
const idOf = (word: string): MemoryClassId =>
  MEMORY_CLASSES.find(({ id }) => id.startsWith(word))?.id ?? 'unknown';

let labels: Readonly<Record<string, readonly ClassLabel[]>> | undefined;

/** Of one of {@link labeledCaptureNames}. */
function classAccuracy(name: string): ClassAccuracy {
  labels ??= JSON.parse(gunzipSync(readFileSync('fixtures/classes/labels.json.gz')).toString());
  const key = name.replace('classes/', '').replace('.pickle.gz', '');
  // A rank's file has a trace for each device of its machine, but it used only one.
  const used = contextsOf(loadCapture(name)).filter(({ replay }) => replay.allocations.length > 0);
  return accuracyOf(used[0], labels?.[key] ?? []);
}

/** All of fixtures/classes, by name. */
export const labeledRuns = (): (ClassAccuracy & { readonly name: string })[] =>
  labeledCaptureNames().map((name) => ({ name, ...classAccuracy(name) }));

/** Unlabeled memory was freed soon: it is temporary. */
function trueClasses(
  { replay, trace, snapshot }: DeviceModel,
  labels: readonly ClassLabel[],
): MemoryClassId[] {
  const named = new Map(labels.map(([timeUs, address, of]) => [`${timeUs} ${address}`, idOf(of)]));
  const { length, start, address } = replay.allocations;
  return Array.from({ length }, (_, id) => {
    const timeUs = snapshot.startUs + (trace.events.timeUs?.[start[id]] ?? Number.NaN);
    const key = `${timeUs} ${snapshot.addresses.toBigInt(address[id])}`;
    return named.get(key) ?? 'temporaries';
  });
}

function accuracyOf(context: DeviceModel, labels: readonly ClassLabel[]): ClassAccuracy {
  const truth = trueClasses(context, labels);
  const { classOf } = classify(context);
  const { timeUs } = context.trace.events;
  const { length, start, freeRequested, sizeBytes } = context.replay.allocations;
  const { event, bytes: peakBytes } = context.replay.peaks.allocatedBytes;
  const last = context.trace.events.length - 1;
  const confusion = new Map<string, number>();
  let [right, all, rightTime, allTime] = [0, 0, 0, 0];
  for (let id = 0; id < length; id++) {
    const given = MEMORY_CLASSES[classOf[id]].id;
    const isRight = given === truth[id];
    const end = freeRequested[id] === NEVER ? last : freeRequested[id];
    const cost = sizeBytes[id] * ((timeUs?.[end] ?? 0) - (timeUs?.[start[id]] ?? 0));
    allTime += cost;
    if (isRight) rightTime += cost;
    if (start[id] > event || freeRequested[id] <= event) continue;
    all += sizeBytes[id];
    if (isRight) right += sizeBytes[id];
    const key = `${truth[id]} → ${given}`;
    confusion.set(key, (confusion.get(key) ?? 0) + sizeBytes[id]);
  }
  return { peakBytes, peakShare: right / all, timeShare: rightTime / allTime, confusion };
}

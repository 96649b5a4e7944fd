/** The JSON of a compact snapshot beside its columns: checks of what the file says, from which its types follow. */
import { MAX_REGIONS } from '../../base/address.ts';
import { isRecord } from '../../base/collections.ts';
import { VENDORS, type VendorId } from '../snapshot/accelerator.ts';
import { MAX_DEVICES } from '../snapshot/field-reader.ts';
import { MAX_LEDGER_BYTES, MAX_LEDGER_ITEMS } from '../snapshot/read-ledger.ts';
import { isSha256, MAX_SOURCE_FILES, MAX_SOURCE_LETTERS } from '../snapshot/read-source.ts';
import {
  type FileInfo,
  type HolderOwner,
  type LabelRow,
  LEDGER_MOMENTS,
  type LedgerSample,
  type SettingValue,
  type SnapshotWarning,
  type SourceText,
} from '../snapshot/tables.ts';

type Check<T> = (value: unknown) => value is T;
export type Checked<C> = C extends Check<infer T> ? T : never;

export const check =
  <T>(isSuch: (value: unknown) => boolean): Check<T> =>
  (value): value is T =>
    isSuch(value);

const optional = <T>(is: Check<T>): Check<T | undefined> =>
  check((value) => value === undefined || is(value));

export const listOf = <T>(is: Check<T>, most = Infinity): Check<readonly T[]> =>
  check((value) => Array.isArray(value) && value.length <= most && value.every(is));

const pairOf = <A, B>(isFirst: Check<A>, isSecond: Check<B>): Check<readonly [A, B]> =>
  check(
    (value) =>
      Array.isArray(value) && value.length === 2 && isFirst(value[0]) && isSecond(value[1]),
  );

const valuesOf = <T>(is: Check<T>): Check<Readonly<Record<string, T>>> =>
  check((value) => isRecord(value) && Object.values(value).every(is));

export const fields = <F extends Readonly<Record<string, Check<unknown>>>>(
  checks: F,
): Check<{ readonly [K in keyof F]: Checked<F[K]> }> =>
  check((value) => isRecord(value) && Object.entries(checks).every(([key, is]) => is(value[key])));

const isBoolean = check<boolean>((value) => typeof value === 'boolean');
export const isString = check<string>((value) => typeof value === 'string');
const isNumber = check<number>(Number.isFinite);
const isInteger = check<number>(Number.isSafeInteger);
export const isCount = check<number>((value) => isInteger(value) && value >= 0);
/** JSON has no 64-bit integers: they are in decimal. */
const isWholeText = check<string>((value) => isString(value) && /^-?\d{1,20}$/.test(value));
const isNumberOrNull = check((value) => value === null || isNumber(value));
const byEvent = <T>(is: Check<T>) => listOf(pairOf(isNumber, is));

const isFileInfo = fields({
  name: isString,
  bytes: isCount,
  container: isString,
  protocol: optional(isNumber),
  decoder: check((value) => value === 'columnar' || value === 'general'),
  partial: optional(isString),
});

const isOwner = fields({
  name: isString,
  type: isString,
  via: optional(isString),
  through: optional(isString),
  file: optional(isString),
  length: optional(isCount),
  line: optional(isCount),
});

const isAccelerator = fields({
  vendor: check<VendorId>((value) => (VENDORS as readonly unknown[]).includes(value)),
  evidence: isString,
  paddingBytes: isCount,
  isPaddingKnown: isBoolean,
  largePageBytes: optional(isCount),
  workspaces: listOf(fields({ address: isNumber, sizeBytes: isCount, stream: isCount })),
});

const isDevice = fields({
  device: check<number>((value) => isCount(value) && value < MAX_DEVICES),
  kind: check<'cuda' | 'host'>((value) => value === 'cuda' || value === 'host'),
  accelerator: optional(isAccelerator),
  /** Handles. */
  streams: listOf(isWholeText),
  pools: listOf(pairOf(isInteger, isInteger)),
  ringOverflowed: optional(isBoolean),
  opening: optional(fields({ hasFreeRequested: isBoolean, hasFreeCompleted: isBoolean })),
  oomDeviceFreeBytes: byEvent(isCount),
  unknownActions: byEvent(isString),
  unknownKeys: listOf(pairOf(isString, byEvent(isString))),
});
export type CompactDevice = Checked<typeof isDevice>;

const isHolders = fields({
  owners: listOf(check<HolderOwner>(isOwner)),
  left: isCount,
  graphs: isString,
});
export type CompactHolders = Checked<typeof isHolders>;

const isBytes = check<number>((value) => isCount(value) && value <= MAX_LEDGER_BYTES);
const someOf = <T>(is: Check<T>) => optional(listOf(is, MAX_LEDGER_ITEMS));
const isSample = fields({
  timeUs: isNumber,
  device: isCount,
  moment: check((value) => LEDGER_MOMENTS.some((word) => word === value)),
  step: optional(isCount),
  freeBytes: isBytes,
  totalBytes: isBytes,
  allocatedBytes: isBytes,
  reservedBytes: isBytes,
  processBytes: optional(isBytes),
  others: someOf(fields({ pid: isCount, bytes: isBytes })),
  contextBytes: optional(isBytes),
  communicators: someOf(fields({ group: isString, backend: isString, bytes: isBytes })),
  pools: someOf(
    fields({
      id: pairOf(isInteger, isInteger),
      reservedBytes: isBytes,
      allocatedBytes: optional(isBytes),
    }),
  ),
});

const isSourceText = fields({
  filename: isString,
  /** '' if the page could not make it. */
  sha256: check<string>((value) => value === '' || isSha256(value)),
  origin: check((value) => value === 'recording' || value === 'folder'),
  isWhole: isBoolean,
  isChanged: optional(isBoolean),
  pieces: listOf(
    fields({
      line: check<number>((value) => isCount(value) && value > 0),
      text: check<string>((value) => isString(value) && value.length <= MAX_SOURCE_LETTERS),
    }),
  ),
});

export const isCompactRest = fields({
  /** The file that it was made from. */
  origin: optional(check<FileInfo>(isFileInfo)),
  strings: check<readonly string[]>((value) => listOf(isString)(value) && value[0] === ''),
  /** AddressSpace.regions. */
  regions: listOf(isWholeText, MAX_REGIONS),
  /** Without it, times are those of the recorder's clock. */
  startUs: optional(isCount),
  extras: byEvent(valuesOf(isString)),
  devices: listOf(isDevice, MAX_DEVICES),
  settings: valuesOf(
    check<SettingValue>(
      (value) =>
        isString(value) || isNumber(value) || isBoolean(value) || valuesOf(isNumberOrNull)(value),
    ),
  ),
  warnings: listOf(check<SnapshotWarning>(fields({ code: isString, message: isString }))),
  labels: optional(listOf(check<LabelRow>(Array.isArray))),
  holders: optional(isHolders),
  ledger: optional(
    fields({ samples: listOf(check<LedgerSample>(isSample)), missing: valuesOf(isString) }),
  ),
  source: optional(
    fields({
      files: listOf(check<SourceText>(isSourceText), MAX_SOURCE_FILES),
      missing: valuesOf(isString),
    }),
  ),
});
export type CompactRest = Checked<typeof isCompactRest>;

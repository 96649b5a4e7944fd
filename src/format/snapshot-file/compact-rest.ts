/** The JSON that a compact snapshot stores besides its columns, and its validation. */
import { MAX_REGIONS } from '../../base/address.ts';
import { isRecord } from '../../base/json.ts';
import { MAX_DEVICES } from '../snapshot/field-reader.ts';
import type {
  FileInfo,
  HolderTable,
  LabelRow,
  SettingValue,
  SnapshotWarning,
} from '../snapshot/tables.ts';

export interface CompactRest {
  /** The file that it was made from. */
  readonly origin?: FileInfo;
  readonly strings: readonly string[];
  /** AddressSpace.regions in decimal: JSON has no 64-bit integers. */
  readonly regions: readonly string[];
  /** Without it, times are those of the recorder's clock. */
  readonly startUs?: number;
  readonly extras: readonly (readonly [number, Readonly<Record<string, string>>])[];
  readonly devices: readonly CompactDevice[];
  readonly settings: Readonly<Record<string, SettingValue>>;
  readonly warnings: readonly SnapshotWarning[];
  readonly labels?: readonly LabelRow[];
  readonly holders?: CompactHolders;
}

export type CompactHolders = Pick<HolderTable, 'owners' | 'left' | 'graphs'>;

export interface CompactDevice {
  readonly device: number;
  readonly kind: 'cuda' | 'host';
  /** Handles in decimal. */
  readonly streams: readonly string[];
  readonly pools: readonly (readonly [number, number])[];
  readonly ringOverflowed?: boolean;
  readonly opening?: { readonly hasFreeRequested: boolean; readonly hasFreeCompleted: boolean };
  readonly oomDeviceFreeBytes: readonly (readonly [number, number])[];
  readonly unknownActions: readonly (readonly [number, string])[];
  readonly unknownKeys: readonly (readonly [string, readonly (readonly [number, string])[]])[];
}

export function isCompactRest(value: unknown): value is CompactRest {
  return (
    isRecord(value) &&
    (value.origin === undefined || isOrigin(value.origin)) &&
    isListOf(value.strings, isString) &&
    value.strings[0] === '' &&
    isListOf(value.regions, isWholeText) &&
    value.regions.length <= MAX_REGIONS &&
    (value.startUs === undefined || isCount(value.startUs)) &&
    isListOf(value.extras, pairOf(isNumber, isTexts)) &&
    isListOf(value.devices, isDevice) &&
    value.devices.length <= MAX_DEVICES &&
    isRecord(value.settings) &&
    Object.values(value.settings).every(isSetting) &&
    isListOf(value.warnings, isWarning) &&
    (value.labels === undefined || isListOf(value.labels, Array.isArray)) &&
    (value.holders === undefined || isHolders(value.holders))
  );
}

function isDevice(value: unknown): value is CompactDevice {
  return (
    isRecord(value) &&
    isDevicePosition(value.device) &&
    (value.kind === 'cuda' || value.kind === 'host') &&
    isListOf(value.streams, isWholeText) &&
    isListOf(value.pools, pairOf(Number.isSafeInteger, Number.isSafeInteger)) &&
    (value.ringOverflowed === undefined || typeof value.ringOverflowed === 'boolean') &&
    (value.opening === undefined || isOpening(value.opening)) &&
    isListOf(value.oomDeviceFreeBytes, pairOf(isNumber, isCount)) &&
    isListOf(value.unknownActions, pairOf(isNumber, isString)) &&
    isListOf(
      value.unknownKeys,
      pairOf(isString, (values) => isListOf(values, pairOf(isNumber, isString))),
    )
  );
}

function isHolders(value: unknown): boolean {
  return (
    isRecord(value) &&
    isListOf(value.owners, isOwner) &&
    isCount(value.left) &&
    isString(value.graphs)
  );
}

const isOwner: Check = (value) =>
  isRecord(value) &&
  isString(value.name) &&
  isString(value.type) &&
  [value.via, value.through, value.file].every((text) => text === undefined || isString(text)) &&
  [value.length, value.line].every((count) => count === undefined || isCount(count));

function isOrigin(value: unknown): boolean {
  return (
    isRecord(value) &&
    isString(value.name) &&
    isCount(value.bytes) &&
    isString(value.container) &&
    (value.protocol === undefined || isNumber(value.protocol)) &&
    (value.decoder === 'columnar' || value.decoder === 'general') &&
    (value.partial === undefined || isString(value.partial))
  );
}

function isOpening(value: unknown): boolean {
  return (
    isRecord(value) &&
    typeof value.hasFreeRequested === 'boolean' &&
    typeof value.hasFreeCompleted === 'boolean'
  );
}

type Check = (value: unknown) => boolean;

function isListOf(value: unknown, check: Check): value is readonly unknown[] {
  return Array.isArray(value) && value.every(check);
}

const pairOf =
  (first: Check, second: Check): Check =>
  (value) =>
    Array.isArray(value) && value.length === 2 && first(value[0]) && second(value[1]);

const isString: Check = (value) => typeof value === 'string';
const isNumber: Check = (value) => Number.isFinite(value);
const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isDevicePosition: Check = (value) => isCount(value) && Number(value) < MAX_DEVICES;
const isTexts: Check = (value) => isRecord(value) && Object.values(value).every(isString);
const isSetting: Check = (value) =>
  isString(value) ||
  isNumber(value) ||
  typeof value === 'boolean' ||
  (isRecord(value) && Object.values(value).every((item) => item === null || isNumber(item)));
const isWholeText: Check = (value) => typeof value === 'string' && /^-?\d{1,20}$/.test(value);
const isWarning: Check = (value) =>
  isRecord(value) && isString(value.code) && isString(value.message);

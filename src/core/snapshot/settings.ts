/** allocator_settings as recorded: numbers, booleans, strings, and dictionaries of numbers. */
import type { DictEntry, RetainedValues } from '../pickle/retained-values.ts';
import { Tag } from '../pickle/types.ts';
import type { SettingValue } from './tables.ts';

export function readSettings(
  kept: RetainedValues,
  entry: DictEntry | undefined,
): Readonly<Record<string, SettingValue>> {
  if (entry?.tag !== Tag.Dict) return {};
  const pairs = kept.dictEntries(entry.val).flatMap(({ key, tag, val }) => {
    const value = settingValue(kept.toValue(tag, val));
    return value === undefined ? [] : [[key, value] as const];
  });
  return Object.fromEntries(pairs);
}

function settingValue(value: unknown): SettingValue | undefined {
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string')
    return value;
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Map) {
    return Object.fromEntries([...value].map(([key, item]) => [String(key), Number(item)]));
  }
  if (Array.isArray(value))
    return Object.fromEntries(value.map((item, i) => [String(i), Number(item)]));
  return undefined;
}

import type { SettingValue } from '../snapshot/tables.ts';

/** '(empty)', 'True', '134217728'; of a dictionary '8' where all are, else '256: 1, 512: 2' without zeros. */
export function settingText(value: SettingValue): string {
  if (value === '') return '(empty)';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return String(value);
  const entries = Object.entries(value);
  const [first] = entries;
  if (first === undefined) return '0';
  if (entries.every(([, item]) => item === first[1])) return String(first[1]);
  const set = entries.filter(([, item]) => item !== 0);
  return set.map(([key, item]) => `${key}: ${item}`).join(', ');
}

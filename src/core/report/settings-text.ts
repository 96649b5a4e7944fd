import { settingRows } from '../memory-summary/settings.ts';
import type { SettingValue } from '../snapshot/tables.ts';

/** 'name = value' for each recorded setting that is not at its default, or whose default is not known here. */
export function changedSettings(settings: Readonly<Record<string, SettingValue>>): string[] {
  const changed = settingRows(settings).filter(({ isDefault }) => isDefault !== true);
  return changed.map(({ name, value }) => `${name} = ${value}`);
}

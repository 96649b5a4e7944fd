import { type LucideIcon, Monitor, Moon, Sun } from 'lucide-react';
import type { Theme } from '../../state/preferences.ts';
import { usePreferences, useStores } from '../../state/stores.ts';

interface Choice {
  readonly icon: LucideIcon;
  readonly label: string;
  readonly next: Theme;
}

const CHOICES: Readonly<Record<Theme, Choice>> = {
  system: { icon: Monitor, label: 'Theme: as the system', next: 'light' },
  light: { icon: Sun, label: 'Theme: light', next: 'dark' },
  dark: { icon: Moon, label: 'Theme: dark', next: 'system' },
};

/** Goes round: as the system, light, dark. */
export function ThemeSwitch() {
  const { preferences } = useStores();
  const { icon: Icon, label, next } = CHOICES[usePreferences(({ theme }) => theme)];
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={label}
      title={label}
      onClick={() => preferences.set({ theme: next })}
    >
      <Icon size={16} aria-hidden />
    </button>
  );
}

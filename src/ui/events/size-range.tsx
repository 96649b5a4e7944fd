import type { EventSettings } from './event-choice.ts';
import { isBadSize } from './event-choice.ts';

interface SizeRangeProps {
  readonly settings: EventSettings;
  readonly onChange: (change: Partial<EventSettings>) => void;
}

export function SizeRange({ settings, onChange }: SizeRangeProps) {
  return (
    <fieldset className="event-sizes" aria-label="Size">
      <SizeInput
        label="Smallest size"
        placeholder="min size"
        value={settings.minSize}
        onChange={(minSize) => onChange({ minSize })}
      />
      <SizeInput
        label="Largest size"
        placeholder="max size"
        value={settings.maxSize}
        onChange={(maxSize) => onChange({ maxSize })}
      />
    </fieldset>
  );
}

interface SizeInputProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function SizeInput({ label, placeholder, value, onChange }: SizeInputProps) {
  const isBad = isBadSize(value);
  return (
    <input
      type="text"
      className="select event-size"
      aria-label={label}
      aria-invalid={isBad}
      placeholder={placeholder}
      title={isBad ? `"${value}" is no size: write 512, 64KiB or 1.5 GiB` : `${label}, as 64 MiB`}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

import type { LucideIcon } from 'lucide-react';

export interface SegmentedOption<T extends string> {
  readonly value: T;
  readonly label: string;
  /** For those who point at it. */
  readonly about?: string;
  readonly icon?: LucideIcon;
}

interface SegmentedProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly SegmentedOption<T>[];
  /** Another one was chosen. */
  readonly onChange: (value: T) => void;
}

/** A choice of a few words, all in sight. */
export function Segmented<T extends string>({
  label,
  value,
  options,
  onChange,
}: SegmentedProps<T>) {
  return (
    <fieldset className="segmented" aria-label={label}>
      {options.map(({ value: own, label: text, about, icon: Icon }) => (
        <button
          key={own}
          type="button"
          title={about}
          aria-pressed={own === value}
          onClick={() => own !== value && onChange(own)}
        >
          {Icon && <Icon size={13} aria-hidden />}
          {text}
        </button>
      ))}
    </fieldset>
  );
}

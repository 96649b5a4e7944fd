interface ColorKeyProps {
  readonly label: string;
  readonly entries: readonly { readonly label: string; readonly color: string }[];
}

/** What a few colours of a plot mean. */
export function ColorKey({ label, entries }: ColorKeyProps) {
  return (
    <ul className="color-key" aria-label={label}>
      {entries.map((entry) => (
        <li key={entry.label}>
          <span style={{ background: entry.color }} aria-hidden />
          {entry.label}
        </li>
      ))}
    </ul>
  );
}

interface StatProps {
  readonly label: string;
  readonly value: string;
  readonly note: string;
  /** The exact figure or the whole sentence. */
  readonly title?: string;
  readonly tone?: 'good' | 'warning' | 'danger';
  /** The note gives way first where there is little room; the title then has to say it too. */
  readonly isNoteMinor?: boolean;
  /** Makes it a button that leads to the place in the timeline. */
  readonly onClick?: () => void;
}

/** One figure of the summary. */
export function Stat({ label, value, note, title, tone, isNoteMinor, onClick }: StatProps) {
  const content = (
    <>
      <span className="stat-label">{label}</span>
      <span className="stat-value" data-tone={tone}>
        {value}
      </span>
      <span className="stat-note" data-minor={isNoteMinor}>
        {note}
      </span>
    </>
  );
  if (onClick === undefined) {
    return (
      <div className="stat" title={title}>
        {content}
      </div>
    );
  }
  return (
    <button type="button" className="stat stat-button" title={title} onClick={onClick}>
      {content}
    </button>
  );
}

import { Check, Copy } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';

interface CopyButtonProps {
  /** A function for what has to be made or fetched first. */
  readonly text: string | (() => Promise<string>);
  /** What is copied, for the name of the button. */
  readonly label: string;
  /** For texts that are too long to be shown when one points at the button. */
  readonly title?: string;
  readonly className: string;
  readonly children?: ReactNode;
}

const FEEDBACK_MS = 1500;

/** Copies `text` and says so for a moment. */
export function CopyButton({ text, label, title, className, children }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<'copied' | 'refused' | undefined>(undefined);
  useEffect(() => {
    if (outcome === undefined) return;
    const timer = setTimeout(() => setOutcome(undefined), FEEDBACK_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  async function copy() {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : await text());
      setOutcome('copied');
    } catch {
      setOutcome('refused');
    }
  }
  return (
    <button
      type="button"
      className={`copy-button ${className}`}
      title={title ?? `Copy ${typeof text === 'string' ? text : label}`}
      aria-label={`Copy ${label}`}
      onClick={() => void copy()}
    >
      {children}
      {outcome === 'copied' ? <Check size={13} aria-hidden /> : <Copy size={13} aria-hidden />}
      <span className="copy-feedback" aria-live="polite">
        {outcome === 'copied' && 'Copied'}
        {outcome === 'refused' && 'Your browser refused'}
      </span>
    </button>
  );
}

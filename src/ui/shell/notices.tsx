import { X } from 'lucide-react';
import { useStore } from 'zustand';
import { useServices } from '../shared/services.ts';

/** What the link said that could not be followed. */
export function Notices() {
  const { notices } = useServices();
  const sentences = useStore(notices);
  if (sentences.length === 0) return undefined;
  return (
    <aside className="notices" aria-label="About the link">
      <ul>
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <button
        type="button"
        className="icon-button"
        aria-label="Dismiss"
        onClick={() => notices.setState([], true)}
      >
        <X size={15} aria-hidden />
      </button>
    </aside>
  );
}

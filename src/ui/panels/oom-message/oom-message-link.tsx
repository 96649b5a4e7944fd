import { useState } from 'react';
import { useLazy } from '../../shared/lazy.ts';

const loadBox = () => import('./oom-message-box.tsx');

/** Opens the box for an error message, fetched on first use. */
export function OomMessageLink() {
  const [isOpen, setIsOpen] = useState(false);
  const [hasFailed, setHasFailed] = useState(false);
  const box = useLazy(loadBox, isOpen, () => setHasFailed(true));
  return (
    <details
      className="oom-message"
      onToggle={({ currentTarget }) => {
        setIsOpen(currentTarget.open);
        setHasFailed(false);
      }}
    >
      <summary>Only have the error message?</summary>
      {isOpen && box !== undefined && <box.OomMessageBox />}
      {hasFailed && (
        <p role="alert">
          This part of the page could not be loaded. Reload the page and try again.
        </p>
      )}
    </details>
  );
}

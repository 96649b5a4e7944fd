import './oom-message.css';
import { type ComponentType, useState } from 'react';
import { useServices } from '../../shared/services.ts';

type State =
  | { readonly phase: 'closed' | 'loading' | 'failed' }
  | { readonly phase: 'open'; readonly Box: ComponentType };

/** Opens the box for an error message, fetched on first use. */
export function OomMessageLink() {
  const { idle } = useServices();
  const [state, setState] = useState<State>({ phase: 'closed' });
  async function load() {
    setState({ phase: 'loading' });
    try {
      const { OomMessageBox } = await idle.during(() => import('./oom-message-box.tsx'));
      setState({ phase: 'open', Box: OomMessageBox });
    } catch {
      setState({ phase: 'failed' });
    }
  }
  return (
    <details
      className="oom-message"
      onToggle={({ currentTarget }) => {
        if (currentTarget.open && state.phase !== 'open') void load();
      }}
    >
      <summary>Only have the error message?</summary>
      {state.phase === 'open' && <state.Box />}
      {state.phase === 'failed' && (
        <p role="alert">
          This part of the page could not be loaded. Reload the page and try again.
        </p>
      )}
    </details>
  );
}

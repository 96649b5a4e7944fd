import { LocateFixed } from 'lucide-react';
import { type FormEvent, useCallback, useRef, useState } from 'react';
import { formatCount } from '../../../base/format.ts';
import { useDevice } from '../../shared/device-context.ts';
import { useShortcut } from '../../shared/use-shortcut.ts';

interface GoToEventProps {
  readonly onGoTo: (event: number) => void;
  readonly onGoToCursor: () => void;
}

/** Goes to an event by its number, and back to the cursor. */
export function GoToEvent({ onGoTo, onGoToCursor }: GoToEventProps) {
  const { device } = useDevice();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const event = eventNumber(text, device.events);
  const isBad = text.trim() !== '' && event === undefined;
  useShortcut(
    'g',
    useCallback(() => input.current?.focus(), []),
  );
  useShortcut('c', onGoToCursor);
  const submit = (form: FormEvent) => {
    form.preventDefault();
    if (event === undefined) return;
    onGoTo(event);
    setText('');
  };
  return (
    <form className="inline-row event-go" onSubmit={submit}>
      <input
        ref={input}
        type="text"
        inputMode="numeric"
        className="field"
        aria-label="Go to event"
        aria-invalid={isBad}
        placeholder="Go to event"
        title={
          isBad
            ? `Events are numbered 0 to ${formatCount(device.events - 1)}`
            : 'Type an event number and press Enter (G)'
        }
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      <button
        type="button"
        className="button"
        title="Scroll to the row of the cursor (C)"
        onClick={onGoToCursor}
      >
        <LocateFixed size={13} aria-hidden />
        <span className="words">Cursor</span>
      </button>
    </form>
  );
}

/** '1,234' is event 1234; undefined if the trace has no such event. */
export function eventNumber(text: string, events: number): number | undefined {
  const digits = text.trim().replace(/(?<=\d)[,_ ](?=\d{3})/g, '');
  if (!/^\d{1,10}$/.test(digits)) return undefined;
  return Number(digits) < events ? Number(digits) : undefined;
}

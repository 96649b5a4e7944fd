import { type FormEvent, useId, useRef, useState } from 'react';
import { type ParsedConf, parseAllocConf } from '../../../allocator/simulator/alloc-conf.ts';

interface SettingFormProps {
  /** What the link asked for, where it cannot be read. */
  readonly unreadable: string | undefined;
  readonly onTry: (settings: string) => void;
}

type WrongConf = Extract<ParsedConf, { readonly ok: false }>;

/** Any setting, written as in PYTORCH_ALLOC_CONF and read as strictly as PyTorch reads it. */
export function SettingForm({ unreadable, onTry }: SettingFormProps) {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(unreadable ?? '');
  const message = useId();
  const parsed = parseAllocConf(text);
  function submit(event: FormEvent) {
    event.preventDefault();
    if (parsed.ok) {
      onTry(parsed.text);
      setText('');
    } else {
      input.current?.focus();
      input.current?.setSelectionRange(parsed.position, parsed.end);
    }
  }
  return (
    <form className="row whatif-form" onSubmit={submit}>
      <label className="inline-row labelled whatif-free">
        <span className="dim">Try</span>
        <input
          ref={input}
          className="field whatif-input mono"
          aria-label="Settings to try, as in PYTORCH_ALLOC_CONF"
          aria-invalid={!parsed.ok}
          aria-describedby={message}
          placeholder="max_split_size_mb:256,garbage_collection_threshold:0.7"
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <button type="submit" className="button" disabled={text.trim() === ''}>
        Run
      </button>
      <div id={message} className="whatif-error" role="status">
        {!parsed.ok && <WrongPlace conf={parsed} />}
      </div>
    </form>
  );
}

/** The text with what is wrong in it marked, and what is wrong. */
function WrongPlace({ conf: { text, message, position, end } }: { readonly conf: WrongConf }) {
  return (
    <>
      <code>
        {text.slice(0, position)}
        <mark>{position === end ? '␣' : text.slice(position, end)}</mark>
        {text.slice(end)}
      </code>
      <span>
        {message.replace(/\.$/, '')} (character {position + 1}).
      </span>
    </>
  );
}

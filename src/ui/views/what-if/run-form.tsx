import { type FormEvent, useId, useRef, useState } from 'react';
import { type ParsedConf, parseAllocConf } from '../../../allocator/simulator/alloc-conf.ts';
import { COMMON_CARDS_GIB, limitOfCard } from '../../../allocator/simulator/presets.ts';
import type { LimitBounds } from '../../../allocator/simulator/recorded-run.ts';
import { formatBytes, parseBytes } from '../../../base/format.ts';
import type { Limit } from '../../panels/what-if/what-if-results.ts';
import { Button } from '../../shared/buttons.tsx';

interface LimitSelectProps {
  readonly limit: Limit;
  /** The limit of the recorded run; undefined if no failure shows one. */
  readonly recorded: LimitBounds | undefined;
  readonly onChange: (limit: Limit) => void;
}

const OTHER = 'other';
const CARDS = COMMON_CARDS_GIB.map((gib) => ({ gib, bytes: limitOfCard(gib) }));

const ABOUT =
  'How much PyTorch may reserve, as with torch.cuda.set_per_process_memory_fraction(). CUDA itself uses about 0.65 GiB of a GPU.';

/** How much memory the runs may have: as recorded, unlimited, a common GPU's, or a custom size. */
export function LimitSelect({ limit, recorded, onChange }: LimitSelectProps) {
  const isCard = CARDS.some(({ bytes }) => bytes === limit);
  const [isTyping, setIsTyping] = useState(false);
  const isOther = isTyping || (typeof limit === 'number' && !isCard);
  function choose(value: string) {
    setIsTyping(value === OTHER);
    if (value === 'recorded' || value === 'none') onChange(value);
    else if (value !== OTHER) onChange(Number(value));
  }
  return (
    <>
      <label className="inline-row labelled" title={ABOUT}>
        <span className="dim">Memory</span>
        <select
          className="field"
          value={isOther ? OTHER : String(limit)}
          onChange={({ currentTarget }) => choose(currentTarget.value)}
        >
          <option value="recorded">
            {recorded === undefined
              ? 'no limit'
              : `as recorded: ${formatBytes(recorded.likelyBytes)}`}
          </option>
          {recorded !== undefined && <option value="none">no limit</option>}
          {CARDS.map(({ gib, bytes }) => (
            <option key={gib} value={bytes}>
              {gib} GiB GPU
            </option>
          ))}
          <option value={OTHER}>other…</option>
        </select>
      </label>
      {isOther && (
        <OtherLimit
          key={limit}
          bytes={typeof limit === 'number' ? limit : undefined}
          onChange={onChange}
        />
      )}
    </>
  );
}

interface OtherLimitProps {
  readonly bytes: number | undefined;
  readonly onChange: (bytes: number) => void;
}

function OtherLimit({ bytes, onChange }: OtherLimitProps) {
  const [text, setText] = useState(bytes === undefined ? '' : formatBytes(bytes));
  const hint = useId();
  const parsed = parseBytes(text);
  const isWrong = text.trim() !== '' && (parsed === undefined || parsed === 0);
  function submit(event: FormEvent) {
    event.preventDefault();
    if (parsed !== undefined && parsed > 0) onChange(parsed);
  }
  return (
    <form className="row whatif-other" onSubmit={submit}>
      <input
        className="field whatif-input"
        aria-label="Memory that PyTorch may reserve"
        aria-invalid={isWrong}
        aria-describedby={hint}
        placeholder="16GiB"
        size={9}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      <Button type="submit" disabled={parsed === undefined || parsed === 0}>
        Run
      </Button>
      <span id={hint} className="whatif-error" role="status">
        {isWrong && 'Enter a size such as 16GiB or 800MiB'}
      </span>
    </form>
  );
}

interface SettingFormProps {
  readonly unreadable: string | undefined;
  readonly onTry: (settings: string) => void;
}

/** Any setting, written as in PYTORCH_ALLOC_CONF and parsed as strictly as PyTorch does. */
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
      <Button type="submit" disabled={text.trim() === ''}>
        Run
      </Button>
      <div id={message} className="whatif-error" role="status">
        {!parsed.ok && <WrongPlace {...parsed} />}
      </div>
    </form>
  );
}

/** The text with the mistake marked, and an explanation. */
function WrongPlace({ text, message, position, end }: Extract<ParsedConf, { ok: false }>) {
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

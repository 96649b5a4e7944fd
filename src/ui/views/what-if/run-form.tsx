import {
  type ComponentProps,
  type FormEvent,
  type ReactNode,
  useId,
  useRef,
  useState,
} from 'react';
import { type ParsedConf, parseAllocConf } from '../../../allocator/simulator/alloc-conf.ts';
import { COMMON_CARDS_GIB, limitOfCard } from '../../../allocator/simulator/presets.ts';
import type { LimitBounds } from '../../../allocator/simulator/recorded-run.ts';
import type { Limit } from '../../../allocator/simulator/what-if-runs.ts';
import { formatBytes, parseBytes } from '../../../base/format.ts';
import { Choice } from '../../plot/plot-controls.tsx';
import { Button } from '../../shared/buttons.tsx';

interface LimitSelectProps {
  readonly limit: Limit;
  /** The limit of the recorded run; undefined if no failure shows one. */
  readonly recorded: LimitBounds | undefined;
  readonly onChange: (limit: Limit) => void;
}

const CARDS = COMMON_CARDS_GIB.map((gib) => ({ text: `${gib} GiB GPU`, bytes: limitOfCard(gib) }));

/** A failed request shows what the process had, not always what it could have. */
const limitText = ({ likelyBytes }: LimitBounds): string =>
  `as recorded: at least ${formatBytes(likelyBytes)}`;

const ABOUT =
  'What PyTorch may reserve in every row below but the first, as with torch.cuda.set_per_process_memory_fraction(). CUDA itself uses about 0.65 GiB of a GPU.';

/** How much memory the runs may have: as recorded, unlimited, a common GPU's, or a custom size. */
export function LimitSelect({ limit, recorded, onChange }: LimitSelectProps) {
  const [isTyping, setIsTyping] = useState(false);
  const card = CARDS.find(({ bytes }) => bytes === limit);
  const known = typeof limit === 'string' ? limit : card?.text;
  const value = isTyping ? 'other' : (known ?? 'other');
  const texts: Readonly<Record<string, string>> = {
    recorded: recorded === undefined ? 'no limit' : limitText(recorded),
    ...(recorded !== undefined && { none: 'no limit' }),
    ...Object.fromEntries(CARDS.map(({ text }) => [text, text])),
    other: 'other…',
  };
  function choose(chosen: string) {
    setIsTyping(chosen === 'other');
    if (chosen === 'recorded' || chosen === 'none') onChange(chosen);
    const bytes = CARDS.find(({ text }) => text === chosen)?.bytes;
    if (bytes !== undefined) onChange(bytes);
  }
  return (
    <>
      <Choice label="Memory" texts={texts} value={value} title={ABOUT} onChoose={choose} />
      {value === 'other' && (
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
  const parsed = parseBytes(text) || undefined;
  return (
    <TextForm
      aria-label="Memory that PyTorch may reserve"
      placeholder="16GiB"
      size={9}
      value={text}
      onText={setText}
      canRun={parsed !== undefined}
      onRun={() => parsed !== undefined && onChange(parsed)}
      problem={text.trim() !== '' && parsed === undefined && 'Enter a size such as 16GiB or 800MiB'}
    />
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
  const parsed = parseAllocConf(text);
  function run() {
    if (parsed.ok) {
      onTry(parsed.text);
      setText('');
    } else {
      input.current?.focus();
      input.current?.setSelectionRange(parsed.position, parsed.end);
    }
  }
  return (
    <TextForm
      ref={input}
      heading="Try"
      className="mono"
      aria-label="Settings to try, as in PYTORCH_ALLOC_CONF"
      placeholder="max_split_size_mb:256,garbage_collection_threshold:0.7"
      spellCheck={false}
      autoCapitalize="off"
      autoComplete="off"
      value={text}
      onText={setText}
      canRun={text.trim() !== ''}
      onRun={run}
      problem={!parsed.ok && <WrongPlace {...parsed} />}
    />
  );
}

interface TextFormProps extends ComponentProps<'input'> {
  readonly heading?: string;
  readonly onText: (text: string) => void;
  readonly canRun: boolean;
  readonly onRun: () => void;
  /** What is wrong with the text; false if nothing is. */
  readonly problem: ReactNode;
}

/** A text field, a button that runs its text, and what is wrong with it. */
function TextForm({
  heading,
  onText,
  canRun,
  onRun,
  problem,
  className = '',
  ...field
}: TextFormProps) {
  const message = useId();
  function submit(event: FormEvent) {
    event.preventDefault();
    onRun();
  }
  return (
    <form className="row whatif-form" data-wide={heading !== undefined} onSubmit={submit}>
      <label className="inline-row labeled">
        {heading !== undefined && <span className="dim">{heading}</span>}
        <input
          {...field}
          className={`field whatif-input ${className}`}
          aria-invalid={problem !== false}
          aria-describedby={message}
          onChange={({ currentTarget }) => onText(currentTarget.value)}
        />
      </label>
      <Button type="submit" disabled={!canRun}>
        Run
      </Button>
      <div id={message} className="whatif-error" role="status">
        {problem}
      </div>
    </form>
  );
}

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

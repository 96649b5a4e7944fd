import { Check, Copy, type LucideIcon, X } from 'lucide-react';
import {
  type ComponentProps,
  type ReactNode,
  type ToggleEvent,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { startTimer } from '../../base/task.ts';

export interface ButtonProps extends ComponentProps<'button'> {
  readonly icon?: LucideIcon;
  readonly isPrimary?: boolean;
}

export function Button({ icon: Icon, isPrimary = false, children, ...props }: ButtonProps) {
  return (
    <button type="button" className={isPrimary ? 'button button-primary' : 'button'} {...props}>
      {Icon && <Icon size={14} aria-hidden />}
      {children}
    </button>
  );
}

interface IconButtonProps extends ComponentProps<'button'> {
  readonly label: string;
  readonly icon?: LucideIcon;
}

/** A button with only an icon. Its label is for screen readers, and also the tooltip if there is no `title`. */
export function IconButton({ label, icon: Icon, children, ...props }: IconButtonProps) {
  return (
    <button type="button" className="icon-button" aria-label={label} title={label} {...props}>
      {Icon ? <Icon size={16} aria-hidden /> : children}
    </button>
  );
}

interface CopyButtonProps {
  /** A function if the text must be made or fetched first. */
  readonly text: string | (() => Promise<string>);
  readonly label: string;
  /** A tooltip for when the text is too long for one. */
  readonly title?: string;
  readonly className: string;
  readonly children?: ReactNode;
}

const FEEDBACK_MS = 1500;

export function CopyButton({ text, label, title, className, children }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<'copied' | 'refused' | undefined>(undefined);
  useEffect(() => {
    if (outcome === undefined) return;
    return startTimer(FEEDBACK_MS, () => setOutcome(undefined));
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

export interface Option<T extends string | number> {
  readonly value: T;
  readonly label: string;
  readonly about?: string;
  readonly icon?: LucideIcon;
  readonly isDisabled?: boolean;
}

interface SegmentedProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly Option<T>[];
  readonly onChange: (value: T) => void;
}

/** A choice of a few words, all visible. */
export function Segmented<T extends string>(props: SegmentedProps<T>) {
  const { label, value, options, onChange } = props;
  return (
    <fieldset className="segmented" aria-label={label}>
      {options.map(({ value: own, label: text, about, icon: Icon, isDisabled }) => (
        <button
          key={own}
          type="button"
          title={about}
          aria-pressed={own === value}
          disabled={isDisabled}
          onClick={() => own !== value && onChange(own)}
        >
          {Icon && <Icon size={13} aria-hidden />}
          {text}
        </button>
      ))}
    </fieldset>
  );
}

interface SelectProps<T extends string | number>
  extends Omit<ComponentProps<'select'>, 'value' | 'onChange'> {
  readonly value: T;
  readonly options: readonly Option<T>[];
  readonly onChoose: (value: T) => void;
}

/** A choice of many: the browser's own, for keyboard, touch and screen readers. */
export function Select<T extends string | number>({ options, onChoose, ...props }: SelectProps<T>) {
  return (
    <select
      className="field"
      {...props}
      onChange={({ currentTarget }) => {
        const option = options[currentTarget.selectedIndex];
        if (option !== undefined) onChoose(option.value);
      }}
    >
      {options.map(({ value, label, about, isDisabled }) => (
        <option key={value} value={value} title={about} disabled={isDisabled}>
          {label}
        </option>
      ))}
    </select>
  );
}

interface PopoverProps extends ComponentProps<'section'> {
  /** The button, which gets the id of what it opens. */
  readonly button: (popoverTarget: string) => ReactNode;
}

export function Popover({ button, className = '', ...props }: PopoverProps) {
  const id = useId();
  return (
    <>
      {button(id)}
      <section
        id={id}
        popover="auto"
        className={`floating popover ${className}`}
        onBeforeToggle={placeBelowButton}
        {...props}
      />
    </>
  );
}

/** Not by CSS: anchors are missing in some browsers that we support. */
function placeBelowButton({ currentTarget, newState }: ToggleEvent<HTMLElement>): void {
  const button = currentTarget.previousElementSibling;
  if (newState !== 'open' || button === null) return;
  const { left, right, bottom } = button.getBoundingClientRect();
  const { clientWidth } = document.documentElement;
  const isLeft = left + right < clientWidth;
  currentTarget.style.inset = isLeft
    ? `${bottom + 4}px auto auto ${left}px`
    : `${bottom + 4}px ${clientWidth - right}px auto auto`;
}

interface DialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  /** Called for Esc, the button, or a click outside. */
  readonly onClose: () => void;
  readonly className?: string;
  /** A question has no close button: its answers end with a cancel button. */
  readonly isQuestion?: boolean;
  readonly children: ReactNode;
}

/** A modal dialog: the browser keeps the focus inside and restores it afterwards. */
export function Dialog(props: DialogProps) {
  const { title, isOpen, onClose, className = '', isQuestion = false, children } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const { current } = dialog;
    if (isOpen) current?.showModal();
    // Also before it is taken off the page: only then does the focus return to where it was.
    return () => current?.close();
  }, [isOpen]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: for keys there is Esc
    <dialog
      ref={dialog}
      className={`floating dialog ${className}`}
      aria-label={title}
      // Esc closes it as a button does. If the browser did, it would say so only later, and close what was opened since.
      onCancel={(event) => {
        if (event.target !== event.currentTarget) return;
        event.preventDefault();
        onClose();
      }}
      onClose={({ currentTarget }) => !currentTarget.open && onClose()}
      onClick={(event) => event.target === event.currentTarget && onClose()}
    >
      <div className="dialog-body">
        <div className="spread">
          <h2>{title}</h2>
          {!isQuestion && <IconButton icon={X} label="Close" onClick={onClose} />}
        </div>
        {children}
      </div>
    </dialog>
  );
}

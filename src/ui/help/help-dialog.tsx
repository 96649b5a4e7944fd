import './help.css';
import { X } from 'lucide-react';
import { Dialog } from 'radix-ui';

interface HelpDialogProps {
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
}

interface HelpEntry {
  /** Pressed together, or one after the other where a word says so. */
  readonly keys: readonly string[];
  readonly does: string;
}

interface HelpGroup {
  readonly title: string;
  readonly entries: readonly HelpEntry[];
}

const POINTER: HelpGroup = {
  title: 'Pointer',
  entries: [
    { keys: ['Wheel'], does: 'Zoom in time at the pointer; so does a pinch' },
    { keys: ['Alt', 'Wheel'], does: 'Zoom in bytes; so does the wheel over the byte axis' },
    { keys: ['Shift', 'Wheel'], does: 'Pan; so does a sideways swipe' },
    { keys: ['Drag'], does: 'Pan' },
    { keys: ['Shift', 'Drag'], does: 'Zoom to a range' },
    { keys: ['Click'], does: 'Pin the allocation, or the event above the stack' },
    { keys: ['Double click'], does: 'Show the whole trace' },
  ],
};

const KEYS: HelpGroup = {
  title: 'Timeline, when it has the focus',
  entries: [
    { keys: ['←', '→'], does: 'Pan; ↑ ↓ where zoomed in bytes' },
    { keys: ['+', '−'], does: 'Zoom in, out; with Alt in bytes' },
    { keys: ['F'], does: 'Show the whole trace; 0 does too' },
    { keys: ['['], does: 'Event before; ] event after' },
    { keys: ['{'], does: 'OOM before; } OOM after' },
    { keys: ['Enter'], does: 'Pin the newest allocation at the event' },
    { keys: ['Shift', '↑'], does: 'Pin the one above; Shift ↓ the one below' },
    { keys: ['Esc'], does: 'Unpin' },
  ],
};

const ANYWHERE: HelpGroup = {
  title: 'Anywhere',
  entries: [{ keys: ['?'], does: 'This help' }],
};

/** How to move about, and what the words on the page mean. */
export function HelpDialog({ isOpen, onOpenChange }: HelpDialogProps) {
  return (
    <Dialog.Root open={isOpen} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Overlay className="dialog-overlay" />
        <Dialog.Content className="dialog" aria-describedby={undefined}>
          <div className="dialog-head">
            <Dialog.Title className="dialog-title">Help</Dialog.Title>
            <Dialog.Close className="icon-button" aria-label="Close">
              <X size={16} aria-hidden />
            </Dialog.Close>
          </div>
          <div className="help-columns">
            <Group {...POINTER} />
            <Words />
            <Group {...KEYS} />
            <Group {...ANYWHERE} />
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Group({ title, entries }: HelpGroup) {
  return (
    <section>
      <h3>{title}</h3>
      <dl className="help-list">
        {entries.map(({ keys, does }) => (
          <div key={does}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Words() {
  return (
    <section>
      <h3>Reading the picture</h3>
      <p>
        Every allocation is a band as high as its block, rounding included, the oldest at the
        bottom. The top of the stack is the <em>active</em> memory. Each column shows its highest
        moment, so no peak is lost at any zoom; what lies above the column’s lowest moment is paler.
      </p>
    </section>
  );
}

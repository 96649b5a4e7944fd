import '../shared/dialog.css';
import './help.css';
import { X } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { RecordRecipes } from '../recipes/record-recipes.tsx';

interface HelpDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
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
    { keys: ['Alt', 'Click'], does: 'Mark a second event; again: take the mark away' },
    { keys: ['Double click'], does: 'Show the whole trace' },
  ],
};

const KEYS: HelpGroup = {
  title: 'Timeline, addresses and segments, with the focus',
  entries: [
    { keys: ['←', '→'], does: 'Pan; ↑ ↓ where zoomed in bytes' },
    { keys: ['+', '−'], does: 'Zoom in, out; with Alt in bytes' },
    { keys: ['F'], does: 'Show the whole trace; 0 does too' },
    { keys: ['['], does: 'Event before; ] event after' },
    { keys: ['{'], does: 'OOM before; } OOM after' },
    { keys: ['Enter'], does: 'Pin the newest allocation, or segment, at the event' },
    { keys: ['Shift', '↑'], does: 'Pin the one above; Shift ↓ the one below; gaps too' },
    { keys: ['Esc'], does: 'Unpin' },
  ],
};

const ANNOTATIONS: HelpGroup = {
  title: 'Annotations above the timeline',
  entries: [
    { keys: ['←', '→'], does: 'Range before, after; Home first, End last' },
    { keys: ['↓'], does: 'Into the range; ↑ to the one around it' },
    { keys: ['Enter'], does: 'Zoom to the range; so does a click' },
    { keys: ['Wheel'], does: 'Deeper levels, where there are more than are shown' },
  ],
};

const CURSOR: HelpGroup = {
  title: 'The cursor of all views',
  entries: [
    { keys: [','], does: 'Event before; . event after; with Shift 100 of them' },
    { keys: ['P'], does: 'Peak of allocated; R peak of reserved' },
    { keys: ['O'], does: 'Next OOM; with Shift the one before' },
    { keys: ['E'], does: 'The end' },
    { keys: ['M'], does: 'Set the mark, to measure from; with Shift clear it' },
  ],
};

const STATE: HelpGroup = {
  title: 'Allocator state',
  entries: [
    { keys: ['←', '→'], does: 'Event before, after; with Shift 100 of them' },
    { keys: ['Home'], does: 'First event; End the last' },
    { keys: ['↑', '↓'], does: 'Segment above, below; Page Up and Page Down' },
    { keys: ['Shift', '↑'], does: 'Block before; Shift ↓ the block after' },
    { keys: ['Enter'], does: 'Fold or unfold a pool; select a segment’s first block' },
  ],
};

const FLAME: HelpGroup = {
  title: 'Flame graph, when it has the focus',
  entries: [
    { keys: ['↑', '↓'], does: 'To the box above, below; ← → to its neighbours' },
    { keys: ['Enter'], does: 'Zoom into the box; so does a click' },
    { keys: ['Esc'], does: 'Zoom out by a frame' },
  ],
};

const SEARCH: HelpGroup = {
  title: 'Search',
  entries: [
    { keys: ['/'], does: 'Search all views' },
    { keys: ['Enter'], does: 'Select the next match; Shift Enter the one before' },
    { keys: ['↓'], does: 'Complete a term; Tab takes it' },
    { keys: ['Esc'], does: 'Clear the search, then leave it' },
  ],
};

const ALLOCATIONS: HelpGroup = {
  title: 'Allocations, when the table has the focus',
  entries: [
    { keys: ['Space'], does: 'Select the row' },
    { keys: ['Enter'], does: 'Show it in the timeline; list the allocations of a site' },
    { keys: ['F'], does: 'Search all views for its call stack; again: no more' },
    { keys: ['C'], does: 'Copy the row, with tabs between' },
  ],
};

const EVENTS: HelpGroup = {
  title: 'Events',
  entries: [
    { keys: ['↑', '↓'], does: 'Row above, below; Page Up, Page Down, Home and End' },
    { keys: ['Enter'], does: 'Put the cursor there and select its allocation' },
    { keys: ['L'], does: 'To the other end: from an alloc to its free and back' },
    { keys: ['G'], does: 'Go to an event by its number' },
    { keys: ['C'], does: 'Scroll to the cursor' },
  ],
};

const ANYWHERE: HelpGroup = {
  title: 'Anywhere',
  entries: [
    { keys: ['Esc'], does: 'Leave the finding that is shown' },
    { keys: ['?'], does: 'This help' },
  ],
};

/** Keyboard, mouse and search help, and a glossary. */
export function HelpDialog({ isOpen, onClose }: HelpDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    // The browser keeps the focus inside, gives it back afterwards and closes on Esc.
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside it closes it; for keys there is Esc
    <dialog
      ref={dialog}
      className="dialog"
      aria-label="Help"
      onClose={onClose}
      onClick={(event) => event.target === event.currentTarget && onClose()}
    >
      <div className="dialog-body">
        <div className="dialog-head">
          <h2 className="dialog-title">Help</h2>
          <button type="button" className="icon-button" aria-label="Close" onClick={onClose}>
            <X size={16} aria-hidden />
          </button>
        </div>
        <div className="help-columns">
          <Group {...POINTER} />
          <Glossary />
          <Group {...KEYS} />
          <Group {...ANNOTATIONS} />
          <Group {...CURSOR} />
          <Group {...STATE} />
          <Group {...FLAME} />
          <Group {...SEARCH} />
          <Group {...EVENTS} />
          <Group {...ALLOCATIONS} />
          <Group {...ANYWHERE} />
        </div>
        <section className="help-recording">
          <h3>Recording a snapshot</h3>
          <RecordRecipes />
        </section>
      </div>
    </dialog>
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

function Glossary() {
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

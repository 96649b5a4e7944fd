import '../../shared/dialog.css';
import './help.css';
import { X } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { RecordRecipes } from '../../panels/recipes/record-recipes.tsx';
import { IconButton } from '../../shared/buttons.tsx';

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

const GROUPS: readonly HelpGroup[] = [
  {
    title: 'Mouse, in the plots',
    entries: [
      { keys: ['Wheel'], does: 'Zoom in time at the pointer; pinching does the same' },
      { keys: ['Alt', 'Wheel'], does: 'Zoom in bytes' },
      { keys: ['Shift', 'Wheel'], does: 'Pan; swiping sideways does the same' },
      { keys: ['Drag'], does: 'Pan' },
      { keys: ['Shift', 'Drag'], does: 'Zoom to a range' },
      { keys: ['Click'], does: 'Select the allocation, or the event above the stack' },
      { keys: ['Alt', 'Click'], does: 'Set the second cursor; click it again to clear it' },
      { keys: ['Double click'], does: 'Show the whole trace' },
    ],
  },
  {
    title: 'Timeline, addresses and segments',
    entries: [
      { keys: ['←'], does: 'Pan left (also A)' },
      { keys: ['→'], does: 'Pan right (also D)' },
      { keys: ['+'], does: 'Zoom in (also W); with Alt, in bytes' },
      { keys: ['−'], does: 'Zoom out (also S); with Alt, in bytes' },
      { keys: ['F'], does: 'Show the whole trace' },
      { keys: ['X'], does: 'Next axis: events, time, time without idle gaps' },
      { keys: ['['], does: 'Previous event' },
      { keys: [']'], does: 'Next event' },
      { keys: ['{'], does: 'Previous out-of-memory error' },
      { keys: ['}'], does: 'Next out-of-memory error' },
      { keys: ['Enter'], does: 'Select the newest allocation or segment at the event' },
      { keys: ['Shift', '↑'], does: 'Select the one above' },
      { keys: ['Shift', '↓'], does: 'Select the one below' },
      { keys: ['Esc'], does: 'Clear the selection' },
    ],
  },
  {
    title: 'Annotations above the timeline',
    entries: [
      { keys: ['←'], does: 'Previous annotation' },
      { keys: ['→'], does: 'Next annotation' },
      { keys: ['↓'], does: 'First annotation inside' },
      { keys: ['↑'], does: 'Annotation around it' },
      { keys: ['Enter'], does: 'Zoom to the annotation; clicking does the same' },
      { keys: ['Wheel'], does: 'Scroll to deeper levels' },
    ],
  },
  {
    title: 'Cursor, in all views',
    entries: [
      { keys: [','], does: 'Previous event; with Shift, 100 back' },
      { keys: ['.'], does: 'Next event; with Shift, 100 forward' },
      { keys: ['P'], does: 'Peak of allocated memory' },
      { keys: ['R'], does: 'Peak of reserved memory' },
      { keys: ['O'], does: 'Next out-of-memory error (the letter O)' },
      { keys: ['Shift', 'O'], does: 'Previous out-of-memory error' },
      { keys: ['E'], does: 'End of the trace' },
      { keys: ['M'], does: 'Set the second cursor, to measure from there' },
      { keys: ['Shift', 'M'], does: 'Clear the second cursor' },
    ],
  },
  {
    title: 'Allocator state',
    entries: [
      { keys: ['←'], does: 'Previous event; with Shift, 100 back' },
      { keys: ['→'], does: 'Next event; with Shift, 100 forward' },
      { keys: ['Home'], does: 'First event' },
      { keys: ['End'], does: 'Last event' },
      { keys: ['↑'], does: 'Segment above' },
      { keys: ['↓'], does: 'Segment below' },
      { keys: ['Shift', '↑'], does: 'Previous block' },
      { keys: ['Shift', '↓'], does: 'Next block' },
      { keys: ['Enter'], does: 'Fold or unfold a pool; select a segment’s first block' },
    ],
  },
  {
    title: 'Flame graph',
    entries: [
      { keys: ['↑'], does: 'Box above' },
      { keys: ['↓'], does: 'Box below' },
      { keys: ['←'], does: 'Box to the left' },
      { keys: ['→'], does: 'Box to the right' },
      { keys: ['Enter'], does: 'Zoom into the box; clicking does the same' },
      { keys: ['Esc'], does: 'Zoom out by one frame' },
    ],
  },
  {
    title: 'Search',
    entries: [
      { keys: ['/'], does: 'Search all views' },
      { keys: ['Enter'], does: 'Select the next match' },
      { keys: ['Shift', 'Enter'], does: 'Select the previous match' },
      { keys: ['Tab'], does: 'Complete a term' },
      { keys: ['Esc'], does: 'Clear the search, then leave it' },
    ],
  },
  {
    title: 'Events',
    entries: [
      { keys: ['↑'], does: 'Row above' },
      { keys: ['↓'], does: 'Row below' },
      { keys: ['Enter'], does: 'Move the cursor there and select the allocation' },
      { keys: ['L'], does: 'Go from an allocation to its free, or back' },
      { keys: ['G'], does: 'Go to an event by its number' },
      { keys: ['C'], does: 'Scroll to the cursor' },
    ],
  },
  {
    title: 'Allocations',
    entries: [
      { keys: ['Space'], does: 'Select the row' },
      { keys: ['Enter'], does: 'Show it in the timeline, or list a call site’s allocations' },
      { keys: ['F'], does: 'Filter all views to its call site; again to clear' },
      { keys: ['C'], does: 'Copy the row, separated by tabs' },
    ],
  },
  {
    title: 'Anywhere',
    entries: [
      { keys: ['Esc'], does: 'Undo the last click, or close the finding' },
      { keys: ['?'], does: 'Open this help' },
    ],
  },
];

/** PyTorch's own terms, in the order in which one leads to the next. */
const TERMS: readonly { readonly term: string; readonly means: string }[] = [
  {
    term: 'segment',
    means:
      'Memory that PyTorch takes from the GPU in one piece (cudaMalloc). It is cut into blocks and goes back only when it is empty. Expandable segments can grow and shrink.',
  },
  {
    term: 'block',
    means: 'A piece of a segment: in use by a tensor, or free for the next request.',
  },
  { term: 'allocation', means: 'One use of a block, from the request until its free completes.' },
  { term: 'requested', means: 'Bytes your program asked for.' },
  { term: 'allocated', means: 'Bytes of the blocks in use: requested, rounded up to block sizes.' },
  {
    term: 'active',
    means: 'Allocated blocks plus blocks with a pending free. The top edge of the timeline.',
  },
  {
    term: 'reserved',
    means: 'Bytes of all segments, in use or cached. nvidia-smi shows this and the CUDA context.',
  },
  {
    term: 'inactive split',
    means: 'Free blocks in segments that are partly in use. empty_cache() cannot release them.',
  },
  {
    term: 'pending free',
    means: 'Freed by your program, but another stream (record_stream) may still use the block.',
  },
  {
    term: 'fragmentation',
    means: 'Enough memory is free in total, but no single free range is large enough.',
  },
  {
    term: 'pool',
    means:
      'Blocks that serve the same kind of request: small (up to 1 MiB) or large, and private pools of CUDA graphs and MemPools.',
  },
  {
    term: 'stream',
    means: 'A queue of GPU work. A free block serves only the stream it came from.',
  },
  {
    term: 'gap',
    means:
      'A free range between live blocks. It can be reused, but it goes back to the GPU only with its whole segment.',
  },
  { term: 'call site', means: 'The line of your code that made an allocation, with its callers.' },
  { term: 'stack', means: 'The function calls that led to an event, innermost first.' },
  { term: 'annotation', means: 'A named part of the run, from torch.profiler.record_function().' },
  { term: 'step', means: 'One repetition of the training or inference loop.' },
  { term: 'event', means: 'One recorded action of the allocator, such as an alloc or a free.' },
  {
    term: 'cursor',
    means: 'The event that all views show. A second cursor measures from another event.',
  },
  { term: 'live', means: 'Allocated and not yet freed at the event shown.' },
];

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
      className="floating dialog"
      aria-label="Help"
      onClose={onClose}
      onClick={(event) => event.target === event.currentTarget && onClose()}
    >
      <div className="dialog-body">
        <div className="spread">
          <h2 className="dialog-title">Help</h2>
          <IconButton label="Close" onClick={onClose}>
            <X size={16} aria-hidden />
          </IconButton>
        </div>
        <div className="help-columns">
          <Picture />
          <Glossary />
          {GROUPS.map((group) => (
            <Group key={group.title} {...group} />
          ))}
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
          <div key={keys.join()}>
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

function Picture() {
  return (
    <section>
      <h3>Reading the timeline</h3>
      <p>
        Every allocation is a band as tall as its block, the oldest at the bottom. The top of the
        stack is the <em>active</em> memory. Each pixel column shows its highest moment, so no peak
        is lost at any zoom; paler parts were lower at some moment within that column.
      </p>
      <p>
        Choose <em>Events</em> to give every allocation the same width, which shows what the
        allocator did. Choose <em>Time</em> to see how long things took. <em>Folded</em> is time
        with idle gaps cut short: use it when startup or waiting fills most of the picture.
      </p>
    </section>
  );
}

function Glossary() {
  return (
    <section>
      <h3>Terms</h3>
      <dl className="help-terms">
        {TERMS.map(({ term, means }) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{means}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

import './help.css';
import { RecordRecipes } from '../../panels/recipes/record-recipes.tsx';
import { Dialog } from '../../shared/buttons.tsx';
import { Fact } from '../../shared/facts.tsx';

interface HelpDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Keys pressed together, such as 'Shift ↑' (_ is a space in a name), and what they do. */
type HelpEntry = readonly [keys: string, does: string];

const GROUPS: Readonly<Record<string, readonly HelpEntry[]>> = {
  'Mouse, in the plots': [
    ['Wheel', 'Zoom in time at the pointer; pinching does the same'],
    ['Alt Wheel', 'Zoom in bytes'],
    ['Shift Wheel', 'Pan; swiping sideways does the same'],
    ['Drag', 'Pan'],
    ['Shift Drag', 'Zoom to a range'],
    ['Click', 'Select the allocation, or the event above the stack'],
    ['Alt Click', 'Set the second cursor; click it again to clear it'],
    ['Double_click', 'Show the whole trace'],
  ],
  'Timeline, addresses and segments': [
    ['←', 'Pan left (also A)'],
    ['→', 'Pan right (also D)'],
    ['+', 'Zoom in (also W); with Alt, in bytes'],
    ['−', 'Zoom out (also S); with Alt, in bytes'],
    ['F', 'Show the whole trace'],
    ['X', 'Next axis: events, time, time without idle gaps'],
    ['[', 'Previous event'],
    [']', 'Next event'],
    ['{', 'Previous out-of-memory error'],
    ['}', 'Next out-of-memory error'],
    ['Enter', 'Select the newest allocation or segment at the event'],
    ['Shift ↑', 'Select the one above'],
    ['Shift ↓', 'Select the one below'],
    ['Esc', 'Clear the selection'],
  ],
  'Annotations above the timeline': [
    ['←', 'Previous annotation'],
    ['→', 'Next annotation'],
    ['↓', 'First annotation inside'],
    ['↑', 'Annotation around it'],
    ['Enter', 'Zoom to the annotation; clicking does the same'],
    ['Wheel', 'Scroll to deeper levels'],
  ],
  'Cursor, in all views': [
    [',', 'Previous event; with Shift, 100 back'],
    ['.', 'Next event; with Shift, 100 forward'],
    ['P', 'Peak of allocated memory'],
    ['R', 'Peak of reserved memory'],
    ['O', 'Next out-of-memory error (the letter O)'],
    ['Shift O', 'Previous out-of-memory error'],
    ['E', 'End of the trace'],
    ['M', 'Set the second cursor, to measure from there'],
    ['Shift M', 'Clear the second cursor'],
  ],
  'Allocator state': [
    ['←', 'Previous event; with Shift, 100 back'],
    ['→', 'Next event; with Shift, 100 forward'],
    ['Home', 'First event'],
    ['End', 'Last event'],
    ['↑', 'Segment above'],
    ['↓', 'Segment below'],
    ['Shift ↑', 'Previous block'],
    ['Shift ↓', 'Next block'],
    ['Enter', 'Fold or unfold a pool; select a segment’s first block'],
  ],
  'Flame graph': [
    ['↑', 'Box above'],
    ['↓', 'Box below'],
    ['←', 'Box to the left'],
    ['→', 'Box to the right'],
    ['Enter', 'Zoom into the box; clicking does the same'],
    ['Esc', 'Zoom out by one frame'],
  ],
  Search: [
    ['/', 'Search all views'],
    ['Enter', 'Select the next match'],
    ['Shift Enter', 'Select the previous match'],
    ['Tab', 'Complete a term'],
    ['Esc', 'Clear the search, then leave it'],
  ],
  Events: [
    ['↑', 'Row above'],
    ['↓', 'Row below'],
    ['Enter', 'Move the cursor there and select the allocation'],
    ['L', 'Go from an allocation to its free, or back'],
    ['G', 'Go to an event by its number'],
    ['C', 'Scroll to the cursor'],
  ],
  Allocations: [
    ['Space', 'Select the row'],
    ['Enter', 'Show it in the timeline, or list a call site’s allocations'],
    ['F', 'Filter all views to its call site; again to clear'],
    ['C', 'Copy the row, separated by tabs'],
  ],
  Anywhere: [
    ['Esc', 'Undo the last click, or close the finding'],
    ['?', 'Open this help'],
  ],
};

/** PyTorch's own terms, each explained before it is used. */
const TERMS: Readonly<Record<string, string>> = {
  segment:
    'Memory that PyTorch takes from the GPU in one piece (cudaMalloc). It is cut into blocks and goes back only when it is empty. Expandable segments can grow and shrink.',
  block: 'A piece of a segment: in use by a tensor, or free for the next request.',
  allocation: 'One use of a block, from the request until its free completes.',
  requested: 'Bytes your program asked for.',
  allocated: 'Bytes of the blocks in use: requested, rounded up to block sizes.',
  active: 'Allocated blocks plus blocks with a pending free. The top edge of the timeline.',
  reserved: 'Bytes of all segments, in use or cached. nvidia-smi shows this and the CUDA context.',
  'inactive split':
    'Free blocks in segments that are partly in use. empty_cache() cannot release them.',
  'pending free':
    'Freed by your program, but another stream (record_stream) may still use the block.',
  fragmentation: 'Enough memory is free in total, but no single free range is large enough.',
  pool: 'Blocks that serve the same kind of request: small (up to 1 MiB) or large, and private pools of CUDA graphs and MemPools.',
  stream: 'A queue of GPU work. A free block serves only the stream it came from.',
  gap: 'A free range between live blocks. It can be reused, but it goes back to the GPU only with its whole segment.',
  'call site': 'The line of your code that made an allocation, with its callers.',
  stack: 'The function calls that led to an event, innermost first.',
  annotation: 'A named part of the run, from torch.profiler.record_function().',
  step: 'One repetition of the training or inference loop.',
  event: 'One recorded action of the allocator, such as an alloc or a free.',
  cursor: 'The event that all views show. A second cursor measures from another event.',
  live: 'Allocated and not yet freed at the event shown.',
};

export function HelpDialog(props: HelpDialogProps) {
  return (
    <Dialog title="Help" {...props}>
      <div className="help-columns">
        <section>
          <h3>Reading the timeline</h3>
          <p>
            Every allocation is a band as tall as its block, the oldest at the bottom. The top of
            the stack is the <em>active</em> memory. Each pixel column shows its highest moment, so
            no peak is lost at any zoom; paler parts were lower at some moment within that column.
          </p>
          <p>
            Choose <em>Events</em> to give every allocation the same width, which shows what the
            allocator did. Choose <em>Time</em> to see how long things took. <em>Folded</em> is time
            with idle gaps cut short: use it when startup or waiting fills most of the picture.
          </p>
        </section>
        <section>
          <h3>Terms</h3>
          <dl className="help-terms">
            {Object.entries(TERMS).map(([term, means]) => (
              <Fact key={term} term={term}>
                {means}
              </Fact>
            ))}
          </dl>
        </section>
        {Object.entries(GROUPS).map(([title, entries]) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl className="help-list">
              {entries.map(([keys, does]) => (
                <div key={keys}>
                  <dt>
                    {keys.split(' ').map((key) => (
                      <kbd key={key}>{key.replace('_', ' ')}</kbd>
                    ))}
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <section className="column ruled">
        <h3>Recording a snapshot</h3>
        <RecordRecipes />
      </section>
    </Dialog>
  );
}

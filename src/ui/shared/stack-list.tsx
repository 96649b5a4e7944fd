import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { plural } from '../../base/format.ts';
import type { AllocationDetails } from '../../device/model/allocation-details.ts';
import { functionText } from '../../device/model/frame-text.ts';
import { absenceText } from '../../device/model/stacks.ts';
import type { FrameView, StackView } from '../../device/model/types.ts';
import { Button } from './buttons.tsx';
import { absenceExplanation, FramePlace, frameTitle } from './code-place.tsx';
import { FrameLinks } from './frame-links.tsx';
import { useDevice } from './services.ts';

interface StackListProps {
  readonly stack: StackView;
  readonly testId?: string;
}

export function StackList({ stack, testId }: StackListProps) {
  const { device } = useDevice();
  if (stack.frames.length === 0) {
    return (
      <div data-testid={testId}>
        <p>{absenceText(stack.kind)}</p>
        <p className="dim">{absenceExplanation(stack.kind, device.recording)}</p>
      </div>
    );
  }
  return (
    <ol data-testid={testId}>
      {frameRuns(stack.frames).map((run, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: runs have no other identity and never move
        <Run key={index} run={run} />
      ))}
    </ol>
  );
}

function Run({ run }: { readonly run: FrameRun }) {
  const [isOpen, setIsOpen] = useState(false);
  const frames = run.frames.map((frame, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: recursion repeats frames; they never move
    <Frame key={index} frame={frame} />
  ));
  if (!run.isPlumbing) return frames;
  const count = run.frames.length;
  return (
    <>
      <li>
        <Button
          icon={ChevronRight}
          className="stack-fold quiet"
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
        >
          {plural(count, 'internal frame')}
        </Button>
      </li>
      {isOpen && frames}
    </>
  );
}

function Frame({ frame }: { readonly frame: FrameView }) {
  const { name, kind, isPlumbing, extras } = frame;
  const short = functionText(frame);
  const [isWhole, setIsWhole] = useState(false);
  return (
    <li className="split frame" data-kind={kind} data-plumbing={isPlumbing || undefined}>
      {short === name ? (
        <span className="one-line frame-name" title={frameTitle(frame)}>
          {name}
        </span>
      ) : (
        <Button
          className="one-line frame-name frame-short"
          title={isWhole ? undefined : frameTitle(frame)}
          aria-expanded={isWhole}
          onClick={() => setIsWhole(!isWhole)}
        >
          {isWhole ? name : short}
        </Button>
      )}
      <span className="frame-end">
        <FramePlace frame={frame} />
        <FrameLinks frame={frame} />
      </span>
      {extras !== undefined && (
        <dl className="frame-extras dim small">
          {Object.entries(extras).map(([key, value]) => (
            <div key={key}>
              <dt>{key}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </li>
  );
}

/** Where the block was freed. PyTorch may have repeated the allocation's stack. */
export function FreeStack({ details }: { readonly details: AllocationDetails }) {
  const { freeStack, freeStackIsAllocStack } = details;
  if (freeStack === undefined) return undefined;
  return (
    <section aria-label="Freed by">
      <h2 className="details-heading">Freed by</h2>
      {freeStackIsAllocStack ? (
        <p className="dim">
          Not recorded: with context=&quot;alloc&quot; PyTorch repeats the allocation’s stack here.
        </p>
      ) : (
        <StackList stack={freeStack} testId="free-stack" />
      )}
    </section>
  );
}

/** Adjacent frames that are all shown, or folded together. */
interface FrameRun {
  readonly isPlumbing: boolean;
  readonly frames: readonly FrameView[];
}

/** Splits a stack where plumbing begins and ends: [user, plumbing, plumbing, pytorch] is three runs. */
export function frameRuns(frames: readonly FrameView[]): readonly FrameRun[] {
  const runs: { isPlumbing: boolean; frames: FrameView[] }[] = [];
  for (const frame of frames) {
    const isPlumbing = frame.isPlumbing;
    const last = runs.at(-1);
    if (last?.isPlumbing === isPlumbing) last.frames.push(frame);
    else runs.push({ isPlumbing, frames: [frame] });
  }
  return runs;
}

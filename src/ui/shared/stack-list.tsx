import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { plural } from '../../core/base/format.ts';
import { absenceText } from '../../core/device/stacks.ts';
import type { AllocationDetails, FrameView, StackView } from '../../core/device/types.ts';
import { CopyButton } from './copy-button.tsx';
import { absenceExplanation, fullPlace, placeText } from './stack-text.ts';

interface StackListProps {
  readonly stack: StackView;
  readonly testId?: string;
}

/** A call stack, innermost frame first; runs of noise are one click away. */
export function StackList({ stack, testId }: StackListProps) {
  if (stack.frames.length === 0) {
    return (
      <div className="stack-absent" data-testid={testId}>
        <p>{absenceText(stack.kind)}</p>
        <p className="dim">{absenceExplanation(stack.kind)}</p>
      </div>
    );
  }
  return (
    <ol className="stack" data-testid={testId}>
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
  if (!run.isNoise) return frames;
  const count = run.frames.length;
  return (
    <>
      <li>
        <button
          type="button"
          className="stack-fold"
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
        >
          <ChevronRight size={13} aria-hidden />
          {plural(count, 'internal frame')}
        </button>
      </li>
      {isOpen && frames}
    </>
  );
}

function Frame({ frame }: { readonly frame: FrameView }) {
  const { name, role, extras } = frame;
  const place = fullPlace(frame);
  return (
    <li className="frame" data-role={role}>
      <span className="frame-name" title={name}>
        {name}
      </span>
      <CopyButton text={place} label={place} className="frame-place">
        <span>{placeText(frame)}</span>
      </CopyButton>
      {extras !== undefined && (
        <dl className="frame-extras">
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

/** Neighbouring frames that are shown, or folded together. */
interface FrameRun {
  readonly isNoise: boolean;
  readonly frames: readonly FrameView[];
}

/** Cuts a stack where noise begins and ends: [user, noise, noise, library] is three runs. */
export function frameRuns(frames: readonly FrameView[]): readonly FrameRun[] {
  const runs: { isNoise: boolean; frames: FrameView[] }[] = [];
  for (const frame of frames) {
    const isNoise = frame.role === 'noise';
    const last = runs.at(-1);
    if (last?.isNoise === isNoise) last.frames.push(frame);
    else runs.push({ isNoise, frames: [frame] });
  }
  return runs;
}

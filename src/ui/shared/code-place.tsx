import './code-place.css';
import type { Recording } from '../../allocator/replay/types.ts';
import {
  frameLabel,
  frameLocation,
  framePath,
  fullPlace,
  functionText,
  leafPlace,
  leafText,
} from '../../device/model/frame-text.ts';
import type { NearFrame } from '../../device/model/site-names.ts';
import { absenceText, type CallSiteLine } from '../../device/model/stacks.ts';
import type { FrameView, StackKind } from '../../device/model/types.ts';
import { CopyButton } from './buttons.tsx';

interface FrameCellProps {
  readonly name: string;
  /** 'models/gpt.py:52'; undefined or '' if the file is unknown. */
  readonly path: string | undefined;
  readonly title: string;
  /** What the line called in the end: 'gelu'. */
  readonly leaf?: string | undefined;
  /** Where that is: 'functional.py:16'. */
  readonly leafPlace?: string | undefined;
  /** What called it, or where in a library it led to: '← meta.py:197'. */
  readonly near?: string | undefined;
}

/**
 * A frame in a table row: 'forward models/gpt.py:52 · gelu in functional.py:16'. If it does not fit, it loses its
 * folders first, then the function if it has a leaf, the front of the leaf's place, and the leaf. The file's name loses
 * its front too, so line numbers stay.
 */
export function FrameCell({ name, path = '', title, leaf, leafPlace, near }: FrameCellProps) {
  const slash = path.lastIndexOf('/') + 1;
  return (
    <span className="frame-cell" title={title}>
      <span className="frame-cell-name">{name}</span>{' '}
      <span className="frame-cell-path dim">
        <span className="frame-cell-folder">{path.slice(0, slash)}</span>
        <span className="frame-cell-file">
          <bdi>{path.slice(slash)}</bdi>
        </span>
      </span>
      {leaf !== undefined && <span className="frame-cell-leaf"> · {leaf}</span>}
      {leafPlace !== undefined && (
        <span className="frame-cell-leaf-place dim">
          <bdi>in {leafPlace}</bdi>
        </span>
      )}
      {near !== undefined && (
        <span className="frame-cell-near dim">
          <bdi>{near}</bdi>
        </span>
      )}
    </span>
  );
}

interface SiteCellProps extends CallSiteLine {
  readonly near?: readonly NearFrame[] | undefined;
}

/**
 * The user's own line and the operation it called, 'mlp model.py:52 · gelu in functional.py:16'; or why there is none.
 */
export function SiteCell({ stackKind, topFrame, leafFrame, near = [] }: SiteCellProps) {
  if (topFrame === undefined) return <span className="dim">{absenceText(stackKind)}</span>;
  const words = ({ isInner, frame }: NearFrame) =>
    `\n${isInner ? 'by way of' : 'called from'} ${frameLabel(frame)}`;
  const called = near.map(words).join('');
  const title = `${frameTitle(topFrame)}${called}`;
  return (
    <FrameCell
      name={functionText(topFrame)}
      path={framePath(topFrame)}
      title={leafFrame === undefined ? title : `${title}\n· ${leafText(leafFrame)}`}
      leaf={leafFrame && functionText(leafFrame)}
      leafPlace={leafFrame && leafPlace(leafFrame)}
      near={
        near
          .map(({ isInner, frame }) => `${isInner ? '→' : '←'} ${frameLocation(frame)}`)
          .join(' ') || undefined
      }
    />
  );
}

/**
 * A label such as 'train.py:21 (step) · called from main.py:9', or '· by way of resnet.py:155', that may lack space. It loses what follows the line first,
 * then part of the files' names, but never a line number, which people look for: it may be all that differs from another.
 * Screen readers read its parts as separate words, so a
 * button with this as its text needs a label too.
 */
export function LineLabel({ label }: { readonly label: string }) {
  const [, file, line, rest, word, other] =
    /^(.*?)(:\d+)(.*?)(?: · (called from|by way of) (.*))?$/s.exec(label) ?? [];
  if (file === undefined || line === undefined) {
    return (
      <span className="line-label">
        <span className="line-label-file">{label}</span>
      </span>
    );
  }
  return (
    <span className="line-label">
      <span className="line-label-file">{file}</span>
      <span className="line-label-line">{line}</span>
      {rest !== '' && (
        <span className="line-label-rest">
          <span>{rest}</span>
        </span>
      )}
      {other !== undefined && (
        <span className="line-label-caller">
          <bdi>
            <span className="visually-hidden">{word}</span> {word === 'called from' ? '←' : '→'}{' '}
            {other}
          </bdi>
        </span>
      )}
    </span>
  );
}

/** A frame's place, with its whole path to copy; for C++ without a known file, its whole name. */
export function FramePlace({ frame }: { readonly frame: FrameView }) {
  const path = framePath(frame);
  const whole = fullPlace(frame);
  return (
    <CopyButton
      text={whole}
      label={path === undefined ? 'the whole C++ name' : whole}
      className="dim frame-place"
    >
      <span>{path ?? 'C++'}</span>
    </CopyButton>
  );
}

/** The tooltip of a shortened frame: everything recorded about it. */
export function frameTitle(frame: FrameView): string {
  return frameLocation(frame) === undefined ? frame.name : `${frame.name}\n${fullPlace(frame)}`;
}

const ABSENCES: Readonly<Record<StackKind, string>> = {
  recorded:
    'Only C++ frames that every stack has were recorded: nothing in them says what was computed.',
  'no-python-stack':
    'The thread ran no Python at that moment: autograd runs the backward pass in threads of its own.',
  'no-context':
    'No stack was recorded for this event. Record with context="all" and stacks="python" or "all" to get one.',
  'before-recording':
    'This block was allocated before the first event in the file, so the file does not say which line made it. Start recording earlier to see it.',
};

const DROPPED =
  'This block was allocated before the first event in the file: the recording was full and dropped its oldest events. Record with a larger max_entries to see what made it.';

/** Why there is no stack, in full; absenceText is the short form. */
export const absenceExplanation = (kind: StackKind, recording?: Recording): string =>
  kind === 'before-recording' && recording === 'truncated' ? DROPPED : ABSENCES[kind];

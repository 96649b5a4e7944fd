/**
 * Text for a frame: its location and function. The full C++ name stays in `FrameView.name`, for the expanded stack.
 *
 *   train.py:21 (step)                                                    train.py:21 (step)
 *   torch::autograd::generated::AddmmBackward0::apply(std::vector<…>&&)   AddmmBackward0 (backward pass)
 *   torch::autograd::generated::ReluBackward0::release_variables()        ReluBackward0 (frees what it saved)
 *   void at::native::gpu_reduce_kernel<float, float, 4, …>(…)             gpu_reduce_kernel
 *   at::_ops::sum_dim_IntList::redispatch(c10::DispatchKeySet, …)         sum_dim_IntList
 */
import { fileName, shortPath } from '../../base/file-names.ts';
import {
  BACKWARD_NODE,
  isGenerated,
  isPythonFrame,
  NO_FILE,
  qualifiedName,
} from './frame-kinds.ts';
import type { FrameView } from './types.ts';

type NamedFrame = Pick<FrameView, 'name' | 'filename' | 'line' | 'isBackward'>;

/** A frame in the JSON of reports and summaries. */
export interface FrameReport {
  readonly file: string;
  readonly line: number;
  readonly name: string;
}

/** null: no frame is known. */
export function frameReport(
  frame: Pick<FrameView, 'name' | 'filename' | 'line'> | undefined,
): FrameReport | null {
  return frame === undefined ? null : { file: frame.filename, line: frame.line, name: frame.name };
}

/** Cuts names that may be 10 kB long: functions differ at the start. */
const MAX_NAME = 80;
/** If the last part of a name is one of these, the operator's name is the part before it. */
const CALL_CONVENTION = /^(call|redispatch|impl|apply|forward|operator\(\)|run)$/;
/** nvcc's name for the unit that it compiles, not a real file. */
const COMPILATION_UNIT = /^tmpxft_/;

/** 'step', 'AddmmBackward0 (backward pass)', 'gpu_reduce_kernel': at most 80 characters of the name. */
export function functionText({ name, filename, isBackward }: Omit<NamedFrame, 'line'>): string {
  if (isPythonFrame(name, filename)) return cut(name) || UNNAMED;
  const { text, note } = cppText(name);
  return `${cut(text) || UNNAMED}${isBackward === true ? BACKWARD : note}`;
}

const UNNAMED = 'unnamed function';
const BACKWARD = ' (backward pass)';

function cppText(name: string): { text: string; note: string } {
  const symbol = qualifiedName(name);
  const node = BACKWARD_NODE.exec(symbol);
  if (node !== null)
    return { text: node[1], note: node[2] === undefined ? BACKWARD : ' (frees what it saved)' };
  const parts = symbol.split('::').filter((part) => part !== '');
  const last = parts.at(-1) ?? name;
  const text = (CALL_CONVENTION.test(last) ? parts.at(-2) : undefined) ?? last;
  return { text, note: '' };
}

const cut = (text: string): string =>
  text.length <= MAX_NAME ? text : `${text.slice(0, MAX_NAME - 1)}…`;

/** 'train.py:21', or 'train.py' if the line is unknown; undefined without a real file. */
export function frameLocation({ filename, line }: NamedFrame): string | undefined {
  return hasFile(filename) ? withLine(fileName(filename), line) : undefined;
}

/** 'run/train.py:21': the folder tells apart files with the same name. */
export function framePath({ filename, line }: NamedFrame): string | undefined {
  return hasFile(filename) ? withLine(shortPath(filename), line) : undefined;
}

/** The full path, or the full C++ name without a known file. Used for copying, and wherever there is room. */
export function fullPlace({ name, filename, line }: NamedFrame): string {
  if (!hasFile(filename)) return name;
  return line > 0 ? `${filename}:${line}` : filename;
}

/** 'train.py:21 (step)', 'AddmmBackward0 (backward pass)'. */
export function frameLabel(frame: NamedFrame): string {
  const location = frameLocation(frame);
  const does = functionText(frame);
  return location === undefined ? does : `${location} (${does})`;
}

/** Where an operation is: 'sdpa_attention.py:96', 'generated code:1385'; undefined without a known file. */
export function leafPlace(leaf: NamedFrame): string | undefined {
  return isGenerated(leaf.filename) ? withLine('generated code', leaf.line) : frameLocation(leaf);
}

/** 'scaled_dot_product_attention in sdpa_attention.py:96', 'AddmmBackward0 (backward pass)'. */
export function leafText(leaf: NamedFrame): string {
  const place = leafPlace(leaf);
  return place === undefined ? functionText(leaf) : `${functionText(leaf)} in ${place}`;
}

/**
 * A line and the operation that it led to (see `StackReader.leafFrameView`): 'finetune.py:24 (<module>) ·
 * scaled_dot_product_attention in sdpa_attention.py:96'. If one line leads to several operations, only these differ.
 */
export function siteLabel(frame: NamedFrame, leaf: NamedFrame | undefined): string {
  return leaf === undefined ? frameLabel(frame) : `${frameLabel(frame)} · ${leafText(leaf)}`;
}

function hasFile(filename: string): boolean {
  return !NO_FILE.has(filename) && !COMPILATION_UNIT.test(fileName(filename));
}

/** Cuts the start of a long path: files differ at its end. */
function withLine(file: string, line: number): string {
  const short = file.length <= MAX_NAME ? file : `…${file.slice(1 - MAX_NAME)}`;
  return line > 0 ? `${short}:${line}` : short;
}

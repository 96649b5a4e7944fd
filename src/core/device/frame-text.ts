/**
 * How a frame is written for people: where it is, and what it does. The whole C++ name stays in
 * `FrameView.name`, for the stack that opens with a click.
 *
 *   train.py:21 (step)                                                    train.py:21 (step)
 *   torch::autograd::generated::AddmmBackward0::apply(std::vector<…>&&)   AddmmBackward0 (backward pass)
 *   void at::native::gpu_reduce_kernel<float, float, 4, …>(…)             gpu_reduce_kernel
 *   at::_ops::sum_dim_IntList::redispatch(c10::DispatchKeySet, …)         sum_dim_IntList
 */
import { fileName, shortPath } from '../base/file-names.ts';
import { BACKWARD_NODE, isNativeFrame, NO_FILE, qualifiedName } from './frame-roles.ts';
import type { FrameView } from './types.ts';

type NamedFrame = Pick<FrameView, 'name' | 'filename' | 'line'>;

/** A name of 10 kB is cut: what tells functions apart stands at its start. */
const MAX_NAME = 80;
/** The last part of these says how an operator is called, the one before says which. */
const CALL_CONVENTION = /^(call|redispatch|impl|apply|forward|operator\(\)|run)$/;
/** What nvcc calls the unit it compiles: nobody has such a file. */
const COMPILATION_UNIT = /^tmpxft_/;

/** 'step', 'AddmmBackward0 (backward pass)', 'gpu_reduce_kernel': at most 80 characters. */
export function functionText(frame: Pick<FrameView, 'name' | 'filename'>): string {
  const text = isNativeFrame(frame.name, frame.filename) ? nativeText(frame.name) : frame.name;
  return text.length <= MAX_NAME ? text : `${text.slice(0, MAX_NAME - 1)}…`;
}

function nativeText(name: string): string {
  const symbol = qualifiedName(name);
  const node = BACKWARD_NODE.exec(symbol);
  if (node !== null) return `${node[1]} (backward pass)`;
  const parts = symbol.split('::').filter((part) => part !== '');
  const last = parts.at(-1) ?? name;
  return (CALL_CONVENTION.test(last) ? parts.at(-2) : undefined) ?? last;
}

/** 'train.py:21', 'train.py' without a known line; undefined where no file that a person has is known. */
export function frameLocation({ filename, line }: NamedFrame): string | undefined {
  return hasFile(filename) ? withLine(fileName(filename), line) : undefined;
}

/** 'run/train.py:21': with the folder, which tells files of one name apart. */
export function framePath({ filename, line }: NamedFrame): string | undefined {
  return hasFile(filename) ? withLine(shortPath(filename), line) : undefined;
}

/** 'train.py:21 (step)', 'AddmmBackward0 (backward pass)'. */
export function frameLabel(frame: NamedFrame): string {
  const location = frameLocation(frame);
  const does = functionText(frame);
  return location === undefined ? does : `${location} (${does})`;
}

function hasFile(filename: string): boolean {
  return !NO_FILE.has(filename) && !COMPILATION_UNIT.test(fileName(filename));
}

const withLine = (file: string, line: number): string => (line > 0 ? `${file}:${line}` : file);

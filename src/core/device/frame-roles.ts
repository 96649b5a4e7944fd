/**
 * Which frames of a stack a reader wants to see: the user's own lines, the libraries under them, or
 * noise that every stack shares. Decided from name and filename alone, by what PyTorch's unwinder
 * and Python write, so that it holds for any project.
 */
import type { FrameIndex, FrameTable, StringTable } from '../snapshot/tables.ts';
import type { FrameView } from './types.ts';

export type FrameRole = FrameView['role'];

interface FrameClass {
  readonly role: FrameRole;
  /** Python source, of whatever place. */
  readonly isPython: boolean;
}

const USER: FrameClass = { role: 'user', isPython: true };
const PYTHON_LIBRARY: FrameClass = { role: 'library', isPython: true };
const NATIVE_LIBRARY: FrameClass = { role: 'library', isPython: false };
const NOISE: FrameClass = { role: 'noise', isPython: false };
const CLASSES = [USER, PYTHON_LIBRARY, NATIVE_LIBRARY, NOISE] as const;

/** What the unwinder and the profiler write where they know no file. */
export const NO_FILE: ReadonlySet<string> = new Set(['', '??', 'none', 'None']);
const NATIVE_FILE = /\.(c|cc|cpp|cxx|cu|cuh|h|hh|hpp|inl|s|so|dylib|dll|pyd)(\.[\d.]+)?$/i;

/** Installed packages, and Python's own library on Unix, Conda, macOS and Windows. */
const INSTALLED = /(^|\/)((site|dist)-packages|lib(64)?\/python\d[\d.]*t?|python\d[\d.]*\/lib)\//i;
/** A checkout or a packed archive of PyTorch: folders and files that only PyTorch has under torch/. */
const TORCH_SOURCE =
  /(^|\/)torch\/((nn|optim|autograd|jit|fx|amp|cuda|distributed|ao|export|library|masked|utils\/(data|checkpoint)|_\w+)\/|(functional|serialization|hub|random|storage|_\w+)\.py$|utils\/\w+\.py$)/;
/** Written by TorchInductor and Triton while the program ran: no line that a user wrote. */
const GENERATED = /(^|\/)(torchinductor_[^/]*|\.?triton\/cache)\//;
/** '<frozen runpy>', '<eval_with_key>.3'. A user's are '<stdin>', '<string>' and '<ipython-input-…>'. */
const PSEUDO_LIBRARY = /^<(frozen|eval_with_key|decorator-gen|__array_function__|attrs generated)/;

/** The profiler's Python frames, which have no filename: 'torch/nn/modules/module.py(1501): _call_impl'. */
const PROFILER_PYTHON = /^(.+)\(\d+\): /;

/** at::native functions that are not the operator but how each operator gets its memory. */
const ALLOCATION_PLUMBING = /^at::native::(empty|new_empty|resize|maybe_resize|_empty)/;
/** Its name is the group: 'AddmmBackward0'. */
export const BACKWARD_NODE = /^torch::autograd::generated::(\w+)::apply$/;
/** Namespaces whose frames stand in every stack and tell nothing of this one. */
const PLUMBING_NAMESPACE =
  /^(at|c10|torch|caffe2|std|pybind11|boost|__gnu_cxx|__cxxabiv1|ska|fmt)::/;

/** Innermost ones, so that nested ones go in several rounds. */
const TEMPLATE_ARGUMENTS = /<[^<>]*>/g;

/** Whose code a frame is, by its texts. */
export function classifyFrame(name: string, filename: string): FrameClass {
  if (NO_FILE.has(filename)) {
    const profiled = PROFILER_PYTHON.exec(name);
    return profiled === null ? classifyNative(name) : classifyPython(profiled[1]);
  }
  return NATIVE_FILE.test(filename) ? classifyNative(name) : classifyPython(filename);
}

/** A frame of C++ or CUDA, recognized by its file or, where the unwinder knew none, by its name. */
export function isNativeFrame(name: string, filename: string): boolean {
  return NO_FILE.has(filename) ? !PROFILER_PYTHON.test(name) : NATIVE_FILE.test(filename);
}

function classifyPython(filename: string): FrameClass {
  const path = filename.replaceAll('\\', '/');
  const isLibrary =
    INSTALLED.test(path) ||
    TORCH_SOURCE.test(path) ||
    GENERATED.test(path) ||
    PSEUDO_LIBRARY.test(path);
  return isLibrary ? PYTHON_LIBRARY : USER;
}

/**
 * Most C++ frames only pass a call on. Kept are those that say what was computed, for in a backward
 * thread there is no Python to say it: operators (at::native::layer_norm_cuda, the profiler's
 * aten::mm), backward nodes (AddmmBackward0::apply), and code of other projects (flash::run_mha_fwd).
 */
function classifyNative(name: string): FrameClass {
  const symbol = qualifiedName(name);
  if (symbol.startsWith('at::native::')) {
    return ALLOCATION_PLUMBING.test(symbol) ? NOISE : NATIVE_LIBRARY;
  }
  if (BACKWARD_NODE.test(symbol)) return NATIVE_LIBRARY;
  return symbol.includes('::') && !PLUMBING_NAMESPACE.test(symbol) ? NATIVE_LIBRARY : NOISE;
}

/**
 * The function's name without its types: 'std::vector<at::Tensor> at::native::split<int>(at::Tensor, …)'
 * is 'at::native::split'. '(anonymous namespace)' is part of a name, not a list of arguments.
 */
export function qualifiedName(name: string): string {
  let visible = name.replaceAll('(anonymous namespace)::', '').replace('decltype(auto) ', '');
  for (let before = ''; before !== visible; ) {
    before = visible;
    visible = visible.replace(TEMPLATE_ARGUMENTS, '');
  }
  const head = visible.split('(', 1)[0].trimEnd();
  return head.slice(head.lastIndexOf(' ') + 1);
}

/** Classes of a snapshot's frames, each found when first asked for. */
export class FrameRoles {
  readonly #strings: StringTable;
  readonly #frames: FrameTable;
  /** Index into CLASSES + 1; 0 = not asked yet. */
  readonly #known: Uint8Array;

  constructor(strings: StringTable, frames: FrameTable) {
    this.#strings = strings;
    this.#frames = frames;
    this.#known = new Uint8Array(frames.length);
  }

  role(frame: FrameIndex): FrameRole {
    return this.#class(frame).role;
  }

  isPython(frame: FrameIndex): boolean {
    return this.#class(frame).isPython;
  }

  #class(frame: FrameIndex): FrameClass {
    if (this.#known[frame] === 0) {
      const name = this.#strings.get(this.#frames.name[frame]);
      const filename = this.#strings.get(this.#frames.filename[frame]);
      this.#known[frame] = CLASSES.indexOf(classifyFrame(name, filename)) + 1;
    }
    return CLASSES[this.#known[frame] - 1];
  }
}

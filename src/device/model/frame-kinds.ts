/**
 * Whose code a frame of a call stack is: the user's, a framework's, PyTorch's, the language's or C++. Decided
 * from name and filename alone, by what PyTorch's unwinder and Python write, so that it holds for any project.
 */
import type {
  FrameIndex,
  FrameTable,
  StackTable,
  StringTable,
} from '../../format/snapshot/tables.ts';
import type { FrameKind } from './types.ts';

/** Whose line is looked at first. */
export const FRAME_RANK: Readonly<Record<FrameKind, number>> = {
  user: 0,
  framework: 1,
  pytorch: 2,
  runtime: 3,
  cpp: 4,
};

interface FrameClass {
  readonly kind: FrameKind;
  /** Every stack has such frames, and they tell nothing about this one: unwinder, dispatcher, interpreter. */
  readonly isPlumbing: boolean;
  /** Of C++: what the frame says about a stack that has no Python. */
  readonly says: 'function' | 'backward-node' | 'operator' | 'engine' | undefined;
}

const python = (kind: FrameKind): FrameClass => ({ kind, isPlumbing: false, says: undefined });
const USER = python('user');
const FRAMEWORK = python('framework');
const PYTORCH = python('pytorch');
const RUNTIME = python('runtime');
const FUNCTION: FrameClass = { kind: 'cpp', isPlumbing: false, says: 'function' };
const NODE: FrameClass = { kind: 'cpp', isPlumbing: false, says: 'backward-node' };
const OPERATOR: FrameClass = { kind: 'cpp', isPlumbing: true, says: 'operator' };
const ENGINE: FrameClass = { kind: 'cpp', isPlumbing: true, says: 'engine' };
const PLUMBING: FrameClass = { kind: 'cpp', isPlumbing: true, says: undefined };
const CLASSES = [
  USER,
  FRAMEWORK,
  PYTORCH,
  RUNTIME,
  FUNCTION,
  NODE,
  OPERATOR,
  ENGINE,
  PLUMBING,
] as const;

/** What the unwinder and the profiler write where they know no file. */
export const NO_FILE: ReadonlySet<string> = new Set(['', '??', 'none', 'None']);
const NATIVE_FILE = /\.(c|cc|cpp|cxx|cu|cuh|h|hh|hpp|inl|s|so|dylib|dll|pyd)(\.[\d.]+)?$/i;

/** Packages of pip, Conda and the system. */
const INSTALLED = /(^|\/)(site|dist)-packages\//i;
/** Of these, PyTorch and what comes with it: no line here is one that a user would edit or configure. */
const INSTALLED_TORCH = /(^|\/)(site|dist)-packages\/(torch|torchgen|functorch|triton)\//i;
/** Python's own library on Unix, Conda, macOS and Windows. */
const STANDARD_LIBRARY = /(^|\/)(lib(64)?\/python\d[\d.]*t?|python\d[\d.]*\/lib|python\d+\.zip)\//i;
/** A checkout or a packed archive of PyTorch: folders and files that only PyTorch has under torch/. */
const TORCH_SOURCE =
  /(^|\/)torch\/((nn|optim|autograd|jit|fx|amp|cuda|distributed|ao|export|library|masked|utils\/(data|checkpoint)|_\w+)\/|(functional|serialization|hub|random|storage|_\w+)\.py$|utils\/\w+\.py$)/;
/** Code that others wrote and that a hub put on this machine: torch.hub's repositories, remote code of Hugging Face. */
const DOWNLOADED = /(^|\/)(torch\/hub|transformers_modules|datasets_modules)\//;
/** What starts a program and steps through it: torchrun and other commands of an environment, debuggers. */
const LAUNCHER =
  /(^|\/)((usr|local|\.local|[^/]*(venv|env|conda)[^/]*|envs\/[^/]+)\/bin\/[^/.]+$|Scripts\/[^/]+\.exe\/|debugpy\/|pydevd[^/]*\/)/;
/** Written by TorchInductor and Triton while the program ran: no line that a user wrote. */
const GENERATED =
  /(^|\/)(torchinductor_[^/]*|\.?triton\/cache)\/|\/([a-z2-7]{2})\/c\3[a-z2-7]{20,}\.py$/;
/** Where programs put files of their own making. */
const SCRATCH_FOLDER = /(^|\/)(tmp|temp|var\/folders|\.cache)\//i;
/**
 * Names that no one gives a script: those of Python's tempfile, and those of modules that a library writes out, such as
 * PyTorch Geometric's torch_geometric.nn.conv.gat_conv_GATConv_propagate.py.
 */
const SCRATCH_FILE = /\/(tmp[a-z0-9_]{8}|[^/]+\.[^/]+)\.py$/;
/**
 * '<frozen runpy>', '<eval_with_key>.3', '<string>' of a dataclass: made at run time. A user's are what is typed
 * ('<stdin>', '<ipython-input-…>', '<doctest …>') and what `python -c` runs.
 */
const PSEUDO_FILE = /^</;
const TYPED = /^<(stdin|input|console|ipython|cell|command|doctest|torch_package)/;
const COMMAND = '<string>';

/** The profiler's Python frames, which have no filename: 'torch/nn/modules/module.py(1501): _call_impl'. */
const PROFILER_PYTHON = /^(.+)\(\d+\): /;

/** Functions that are not the operator but how each operator gets its memory. */
const ALLOCATION = /^at::(native|_ops)::(empty|new_empty|resize|maybe_resize|_empty)/;
const OPERATOR_CALL = /^at::_ops::\w+::(call|redispatch)$/;
/**
 * Its first group is the name of the node: 'AddmmBackward0', 'AccumulateGrad'. A node that lets go of the tensors
 * it saved is one too. `Function::apply` is the forward of an operator written in C++, and `PyNode::apply` leads
 * to Python.
 */
export const BACKWARD_NODE =
  /^torch::autograd::(?:generated::)?(?!(?:Function|PyNode|Node)::)(\w+)::(?:apply|release_variables)$/;
/** What runs the backward pass, in threads of its own. */
const BACKWARD_ENGINE = /^torch::autograd::Engine::/;
/** Namespaces whose frames stand in every stack and tell nothing of this one. */
const PLUMBING_NAMESPACE =
  /^(at|c10|torch|caffe2|std|pybind11|boost|__gnu_cxx|__cxxabiv1|ska|fmt)::/;

/** Innermost ones, so that nested ones go in several rounds. */
const TEMPLATE_ARGUMENTS = /<[^<>]*>/g;
/** The name of a call operator has parentheses of its own. */
const BEFORE_ARGUMENTS = /^(operator\(\)|[^(])*/;

/** Whose code a frame is, by its texts. */
export function classifyFrame(name: string, filename: string): FrameClass {
  const path = pythonFile(name, filename);
  return path === undefined ? classifyCpp(name) : classifyPython(name, path.replaceAll('\\', '/'));
}

/** A line of Python, and not one of C++ or CUDA: judged by the file or, where none is known, by the name. */
export function isPythonFrame(name: string, filename: string): boolean {
  return pythonFile(name, filename) !== undefined;
}

function pythonFile(name: string, filename: string): string | undefined {
  if (NO_FILE.has(filename)) return PROFILER_PYTHON.exec(name)?.[1];
  return NATIVE_FILE.test(filename) ? undefined : filename;
}

function classifyPython(name: string, path: string): FrameClass {
  if (PSEUDO_FILE.test(path)) return isTyped(name, path) ? USER : RUNTIME;
  if (INSTALLED_TORCH.test(path)) return PYTORCH;
  if (INSTALLED.test(path) || DOWNLOADED.test(path)) return FRAMEWORK;
  if (STANDARD_LIBRARY.test(path) || LAUNCHER.test(path) || isGenerated(path)) return RUNTIME;
  return TORCH_SOURCE.test(path) ? PYTORCH : USER;
}

/** A file that a compiler or a library wrote while the program ran: nobody knows it by its name. */
export function isGenerated(filename: string): boolean {
  const path = filename.replaceAll('\\', '/');
  return GENERATED.test(path) || (SCRATCH_FOLDER.test(path) && SCRATCH_FILE.test(path));
}

const isTyped = (name: string, file: string): boolean =>
  TYPED.test(file) || (file === COMMAND && name === '<module>');

/**
 * Most C++ frames only pass a call on. The others say what was computed, for in a backward thread
 * there is no Python to say it: operators (at::native::layer_norm_cuda, the profiler's
 * aten::mm), backward nodes (AddmmBackward0::apply), and code of other projects (flash::run_mha_fwd).
 */
function classifyCpp(name: string): FrameClass {
  const symbol = qualifiedName(name);
  if (ALLOCATION.test(symbol)) return PLUMBING;
  if (symbol.startsWith('at::native::')) return FUNCTION;
  if (BACKWARD_NODE.test(symbol)) return NODE;
  if (OPERATOR_CALL.test(symbol)) return OPERATOR;
  if (BACKWARD_ENGINE.test(symbol)) return ENGINE;
  return symbol.includes('::') && !PLUMBING_NAMESPACE.test(symbol) ? FUNCTION : PLUMBING;
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
  const head = (BEFORE_ARGUMENTS.exec(visible)?.[0] ?? '').trimEnd();
  return head.slice(head.lastIndexOf(' ') + 1);
}

/** Python's own way to run a script or a module: whatever calls it only started the program. */
const RUNS_SCRIPT = /^<frozen runpy>$|(^|[\\/])runpy\.py$/;

/** Classes of a snapshot's frames, each found when first asked for. */
export class FrameKinds {
  readonly #strings: StringTable;
  readonly #frames: FrameTable;
  /** Index into CLASSES + 1; 0 = not asked yet. */
  readonly #known: Uint8Array;

  constructor(strings: StringTable, frames: FrameTable, stacks?: StackTable) {
    this.#strings = strings;
    this.#frames = frames;
    this.#known = new Uint8Array(frames.length);
    if (stacks !== undefined) this.#markLaunchers(stacks);
  }

  /** A launcher of the user's own, launch.py → runpy → train.py, is none of the program's lines. */
  #markLaunchers({ length, frame, parent }: StackTable): void {
    const runner = Uint8Array.from({ length: this.#frames.length }, (_, index) =>
      RUNS_SCRIPT.test(this.#strings.get(this.#frames.filename[index])) ? 1 : 0,
    );
    if (!runner.includes(1)) return;
    const isSeen = new Uint8Array(length);
    for (let row = 1; row < length; row++) {
      if (runner[frame[row]] === 0) continue;
      for (let at = parent[row]; at > 0 && isSeen[at] === 0; at = parent[at]) {
        isSeen[at] = 1;
        if (this.of(frame[at]).kind === 'user')
          this.#known[frame[at]] = CLASSES.indexOf(RUNTIME) + 1;
      }
    }
  }

  of(frame: FrameIndex): FrameClass {
    if (this.#known[frame] === 0) {
      const name = this.#strings.get(this.#frames.name[frame]);
      const filename = this.#strings.get(this.#frames.filename[frame]);
      this.#known[frame] = CLASSES.indexOf(classifyFrame(name, filename)) + 1;
    }
    return CLASSES[this.#known[frame] - 1];
  }

  isPython(frame: FrameIndex): boolean {
    return this.of(frame).kind !== 'cpp';
  }
}

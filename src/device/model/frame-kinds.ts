/**
 * Whose code a frame is: the user's, a framework's, PyTorch's, the language's, or C++. Judged only by the name and file
 * that PyTorch's unwinder and Python write, so it works for any project.
 */
import type {
  FrameIndex,
  FrameTable,
  StackTable,
  StringTable,
} from '../../format/snapshot/tables.ts';
import type { FrameKind } from './types.ts';

/** The lowest rank in a stack is the line to look at first. */
export const FRAME_RANK: Readonly<Record<FrameKind, number>> = {
  user: 0,
  framework: 1,
  pytorch: 2,
  runtime: 3,
  cpp: 4,
};

interface FrameClass {
  readonly kind: FrameKind;
  /** Unwinder, dispatcher, interpreter: in every stack, so they say nothing about this one. */
  readonly isPlumbing: boolean;
  /** For C++: what the frame says about a stack without Python. */
  readonly says: 'function' | 'backward-node' | 'released-node' | 'operator' | 'engine' | undefined;
}

const python = (kind: FrameKind): FrameClass => ({ kind, isPlumbing: false, says: undefined });
const USER = python('user');
const FRAMEWORK = python('framework');
const PYTORCH = python('pytorch');
const RUNTIME = python('runtime');
const FUNCTION: FrameClass = { kind: 'cpp', isPlumbing: false, says: 'function' };
const NODE: FrameClass = { kind: 'cpp', isPlumbing: false, says: 'backward-node' };
const RELEASED: FrameClass = { kind: 'cpp', isPlumbing: false, says: 'released-node' };
const OPERATOR: FrameClass = { kind: 'cpp', isPlumbing: true, says: 'operator' };
const ENGINE: FrameClass = { kind: 'cpp', isPlumbing: true, says: 'engine' };
const PLUMBING: FrameClass = { kind: 'cpp', isPlumbing: true, says: undefined };
/** What the unwinder and the profiler write for an unknown file. */
export const NO_FILE: ReadonlySet<string> = new Set(['', '??', 'none', 'None']);
const NATIVE_FILE = /\.(c|cc|cpp|cxx|cu|cuh|h|hh|hpp|inl|s|so|dylib|dll|pyd)(\.[\d.]+)?$/i;

/** Packages installed by pip, Conda or the system. */
const INSTALLED = /(^|\/)(site|dist)-packages\//i;
/** PyTorch and packages that ship with it: no line that a user would edit or configure. */
const INSTALLED_TORCH = /(^|\/)(site|dist)-packages\/(torch|torchgen|functorch|triton)\//i;
/** Python's standard library on Unix, Conda, macOS and Windows. */
const STANDARD_LIBRARY = /(^|\/)(lib(64)?\/python\d[\d.]*t?|python\d[\d.]*\/lib|python\d+\.zip)\//i;
/** A checkout or packed archive of PyTorch: folders and files that only PyTorch has under torch/. */
const TORCH_SOURCE =
  /(^|\/)torch\/((nn|optim|autograd|jit|fx|amp|cuda|distributed|ao|export|library|masked|utils\/(data|checkpoint)|_\w+)\/|(functional|serialization|hub|random|storage|_\w+)\.py$|utils\/\w+\.py$)/;
/** Third-party code downloaded by a hub: torch.hub's repositories, remote code of Hugging Face. */
const DOWNLOADED = /(^|\/)(torch\/hub|transformers_modules|datasets_modules)\//;
/** Starts or steps through a program: torchrun and other commands of an environment, debuggers. */
const LAUNCHER =
  /(^|\/)((usr|local|\.local|[^/]*(venv|env|conda)[^/]*|envs\/[^/]+)\/bin\/[^/.]+$|Scripts\/[^/]+\.exe\/|debugpy\/|pydevd[^/]*\/)/;
/** Generated at run time by TorchInductor and Triton. */
const GENERATED =
  /(^|\/)(torchinductor_[^/]*|\.?triton\/cache)\/|\/([a-z2-7]{2})\/c\3[a-z2-7]{20,}\.py$/;
/** Folders for generated files. */
const SCRATCH_FOLDER = /(^|\/)(tmp|temp|var\/folders|\.cache)\//i;
/**
 * File names of Python's tempfile, and of modules that a library generates, such as PyTorch Geometric's
 * torch_geometric.nn.conv.gat_conv_GATConv_propagate.py. Nobody names a script like this.
 */
const SCRATCH_FILE = /\/(tmp[a-z0-9_]{8}|[^/]+\.[^/]+)\.py$/;
/**
 * '<frozen runpy>', '<eval_with_key>.3', '<string>' of a dataclass: made at run time. Exceptions are the user's: typed
 * code ('<stdin>', '<ipython-input-…>', '<doctest …>') and `python -c`.
 */
const PSEUDO_FILE = /^</;
const TYPED = /^<(stdin|input|console|ipython|python-input|cell|command|doctest|torch_package)/;
const COMMAND = '<string>';

/** The profiler's Python frames, which have no filename: 'torch/nn/modules/module.py(1501): _call_impl'. */
const PROFILER_PYTHON = /^(.+)\(\d+\): /;

/** Functions through which operators allocate, rather than the operators themselves. */
const ALLOCATION = /^at::(native|_ops)::(empty|new_empty|resize|maybe_resize|_empty)/;
const OPERATOR_CALL = /^at::_ops::\w+::(call|redispatch)$/;
/**
 * Its first group is the node's name: 'AddmmBackward0', 'AccumulateGrad'. Excludes `Function::apply`, the forward of an
 * operator written in C++, and `PyNode::apply`, which leads to Python. The second group is there if the node lets go of
 * what it saved: in the backward pass or, if none comes, when the graph is dropped.
 */
export const BACKWARD_NODE =
  /^torch::autograd::(?:generated::)?(?!(?:Function|PyNode|Node)::)(\w+)::(?:apply|(release_variables))$/;
/** Runs the backward pass, in its own threads. */
const BACKWARD_ENGINE = /^torch::autograd::Engine::/;
/** Namespaces with frames in every stack, which say nothing about this one. */
const PLUMBING_NAMESPACE =
  /^(at|c10|torch|caffe2|std|pybind11|boost|__gnu_cxx|__cxxabiv1|ska|fmt)::/;

/** Innermost only, so nested ones need several rounds. */
const TEMPLATE_ARGUMENTS = /<[^<>]*>/g;
/** 'operator()' contains parentheses that don't start the arguments. */
const BEFORE_ARGUMENTS = /^(operator\(\)|[^(])*/;

export function classifyFrame(name: string, filename: string): FrameClass {
  const path = pythonFile(name, filename);
  return path === undefined ? classifyCpp(name) : classifyPython(name, path.replaceAll('\\', '/'));
}

/** Python rather than C++ or CUDA: judged by the file or, if unknown, by the name. */
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

/** A file that a compiler or library wrote at run time, so its name means nothing to the user. */
export function isGenerated(filename: string): boolean {
  const path = filename.replaceAll('\\', '/');
  return GENERATED.test(path) || (SCRATCH_FOLDER.test(path) && SCRATCH_FILE.test(path));
}

const isTyped = (name: string, file: string): boolean =>
  TYPED.test(file) || (file === COMMAND && name === '<module>');

/**
 * Most C++ frames only forward a call. The others say what was computed, which matters in backward threads without
 * Python: operators (at::native::layer_norm_cuda, the profiler's aten::mm), backward nodes (AddmmBackward0::apply), and
 * code of other projects (flash::run_mha_fwd).
 */
function classifyCpp(name: string): FrameClass {
  const symbol = qualifiedName(name);
  if (ALLOCATION.test(symbol)) return PLUMBING;
  if (symbol.startsWith('at::native::')) return FUNCTION;
  const node = BACKWARD_NODE.exec(symbol);
  if (node !== null) return node[2] === undefined ? NODE : RELEASED;
  if (OPERATOR_CALL.test(symbol)) return OPERATOR;
  if (BACKWARD_ENGINE.test(symbol)) return ENGINE;
  return symbol.includes('::') && !PLUMBING_NAMESPACE.test(symbol) ? FUNCTION : PLUMBING;
}

/**
 * The function's name without types: 'std::vector<at::Tensor> at::native::split<int>(at::Tensor, …)' →
 * 'at::native::split'. '(anonymous namespace)' is part of a name, not an argument list.
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

/** Python's own code to run a script or module: all callers above it only started the program. */
const RUNS_SCRIPT = /^<frozen runpy>$|(^|[\\/])runpy\.py$/;

/** Classifies a snapshot's frames, each on first use. */
export class FrameKinds {
  readonly #strings: StringTable;
  readonly #frames: FrameTable;
  readonly #known: (FrameClass | undefined)[] = [];

  constructor(strings: StringTable, frames: FrameTable, stacks?: StackTable) {
    this.#strings = strings;
    this.#frames = frames;
    if (stacks !== undefined) this.#markLaunchers(stacks);
  }

  /** In launch.py → runpy → train.py, the user's launcher is not part of the program. */
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
        if (this.of(frame[at]).kind === 'user') this.#known[frame[at]] = RUNTIME;
      }
    }
  }

  of(frame: FrameIndex): FrameClass {
    const known = this.#known[frame];
    if (known !== undefined) return known;
    const name = this.#strings.get(this.#frames.name[frame]);
    const found = classifyFrame(name, this.#strings.get(this.#frames.filename[frame]));
    this.#known[frame] = found;
    return found;
  }

  isPython(frame: FrameIndex): boolean {
    return this.of(frame).kind !== 'cpp';
  }
}

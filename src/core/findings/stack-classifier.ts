/**
 * What a call stack says of the code that allocates: in an optimizer, in a module's forward, in
 * backward, while a model is built. Found once for each row of the stack tree, from its caller's row.
 */
import type { FrameView } from '../device/types.ts';
import { EMPTY_STACK, NO_STACK, type StackIndex } from '../snapshot/tables.ts';
import type { AnalysisInput } from './types.ts';

const PYTHON = 1;
const OPTIMIZER = 2;
const MODULE_CALL = 4;
const BUILDING = 8;
const HOOK = 16;
const BACKWARD = 32;

/** torch/optim and the optimizers of other packages: apex/optimizers, bitsandbytes/optim, …/optimizer.py. */
const OPTIMIZER_FILE =
  /(^|[\\/])(torch[\\/]optim[\\/]|optim(izers?)?[\\/]|[^\\/]*optimizer[^\\/]*\.py$)/i;
const TORCH_OPTIM = /(^|[\\/])torch[\\/]optim[\\/]/;
const MODULE_FILE = /(^|[\\/])torch[\\/]nn[\\/]modules[\\/]module\.py$/;
const CALLS_FORWARD = new Set(['_call_impl', '_wrapped_call_impl', '_slow_forward', 'inner']);
const MOVES_MODEL = new Set([
  '_apply',
  'to',
  'cuda',
  'convert',
  'load_state_dict',
  '_load_from_state_dict',
]);
const LOADS_MODEL =
  /^(from_pretrained|_load_pretrained_model|_init_weights|reset_parameters|dispatch_model)$/;
/** Where a backward thread's Python begins: custom Functions, tensor hooks, checkpoint's recomputation. */
const AUTOGRAD_FILE = /(^|[\\/])torch[\\/](autograd|utils[\\/]checkpoint|_functorch|_dynamo)/;
const ENTRY_NAMES = new Set([
  '<module>',
  '_bootstrap',
  '_bootstrap_inner',
  '_run_code',
  '_run_module_as_main',
]);

/** Per frame: bits that hold for a stack as soon as one frame has them. */
function frameBits({ name, filename, kind }: FrameView, isPython: boolean): number {
  if (!isPython) return 0;
  let bits = PYTHON;
  if (TORCH_OPTIM.test(filename) || (name === 'step' && OPTIMIZER_FILE.test(filename))) {
    bits |= OPTIMIZER;
  }
  if (MODULE_FILE.test(filename) && CALLS_FORWARD.has(name)) bits |= MODULE_CALL;
  if (MODULE_FILE.test(filename) && MOVES_MODEL.has(name)) bits |= BUILDING;
  if (LOADS_MODEL.test(name)) bits |= BUILDING;
  if (name === '__init__' && kind === 'user') bits |= BUILDING;
  return bits;
}

export class StackClassifier {
  readonly #bits: Uint8Array;
  /** Row of the outermost module call in a stack; 0 = none. */
  readonly #moduleCall: Int32Array;
  /** Row in which the user called the optimizer; 0 = none. */
  readonly #optimizerCall: Int32Array;

  constructor(input: AnalysisInput) {
    const { length, frame, parent } = input.snapshot.stacks;
    this.#bits = new Uint8Array(length);
    this.#moduleCall = new Int32Array(length);
    this.#optimizerCall = new Int32Array(length);
    const frames = readFrames(input);
    for (let row = 1; row < length; row++)
      this.#derive(row, parent[row], frames[frame[row]], frames[frame[parent[row]]]);
  }

  #derive(row: number, above: number, own: FrameFacts, caller: FrameFacts | undefined): void {
    let bits = this.#bits[above] | own.bits;
    // Lightning runs the user's training step inside optimizer.step(closure).
    const leavesOptimizer =
      (own.isUser || (own.bits & MODULE_CALL) !== 0) && (own.bits & OPTIMIZER) === 0;
    if (leavesOptimizer) bits &= ~OPTIMIZER;
    const isFirstPython = (own.bits & PYTHON) !== 0 && (this.#bits[above] & PYTHON) === 0;
    if (isFirstPython && own.startsInAutograd) bits |= BACKWARD;
    const isCalledByModule = caller !== undefined && (caller.bits & MODULE_CALL) !== 0;
    if (isCalledByModule && own.isUser && !own.isForward) bits |= HOOK;
    this.#bits[row] = bits;
    const isModuleCall = (bits & MODULE_CALL) !== 0;
    this.#moduleCall[row] = isModuleCall ? this.#moduleCall[above] || row : 0;
    const isOptimizer = (bits & OPTIMIZER) !== 0;
    this.#optimizerCall[row] = isOptimizer ? this.#optimizerCall[above] || above : 0;
  }

  /** Runs in a backward thread: no Python at all, or Python that autograd called. */
  isBackward(stack: StackIndex): boolean {
    if (stack === NO_STACK) return false;
    if (stack === EMPTY_STACK) return true;
    return (this.#bits[stack] & PYTHON) === 0 || (this.#bits[stack] & BACKWARD) !== 0;
  }

  /** Stack rows do not say where a line of Python is: nobody recorded it, or there was none. */
  hasPython(stack: StackIndex): boolean {
    return stack > EMPTY_STACK && (this.#bits[stack] & PYTHON) !== 0;
  }

  isOptimizer(stack: StackIndex): boolean {
    return stack > EMPTY_STACK && (this.#bits[stack] & OPTIMIZER) !== 0;
  }

  isForward(stack: StackIndex): boolean {
    return this.moduleCall(stack) > 0 && !this.isBackward(stack);
  }

  isBuilding(stack: StackIndex): boolean {
    return stack > EMPTY_STACK && (this.#bits[stack] & BUILDING) !== 0;
  }

  /** A user's function that a module called and that is no forward: a hook. */
  isHook(stack: StackIndex): boolean {
    return stack > EMPTY_STACK && (this.#bits[stack] & HOOK) !== 0;
  }

  moduleCall(stack: StackIndex): StackIndex {
    return stack > EMPTY_STACK ? this.#moduleCall[stack] : 0;
  }

  optimizerCall(stack: StackIndex): StackIndex {
    return stack > EMPTY_STACK ? this.#optimizerCall[stack] : 0;
  }
}

interface FrameFacts {
  readonly bits: number;
  readonly isUser: boolean;
  readonly isForward: boolean;
  readonly startsInAutograd: boolean;
}

function readFrames({ snapshot, stacks }: AnalysisInput): FrameFacts[] {
  const facts: FrameFacts[] = [];
  for (let i = 0; i < snapshot.frames.length; i++) {
    const frame = stacks.frame(i);
    facts.push({
      bits: frameBits(frame, stacks.isPython(i)),
      isUser: frame.kind === 'user',
      isForward: /forward/i.test(frame.name),
      startsInAutograd: AUTOGRAD_FILE.test(frame.filename) && !ENTRY_NAMES.has(frame.name),
    });
  }
  return facts;
}

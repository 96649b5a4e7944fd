/**
 * What a call stack says about the code that allocates: in an optimizer, in a module's forward, in backward, or while a
 * model is built. Computed once per row of the stack tree, from its caller's row.
 */

import { getOrMake } from '../../base/collections.ts';
import { FrameRole, frameRoles, rolesByCaller } from '../../device/classes/stack-roles.ts';
import { EMPTY_STACK, NO_STACK, type StackIndex } from '../../format/snapshot/tables.ts';
import type { DeviceTables } from './types.ts';

const {
  Python: PYTHON,
  Optimizer: OPTIMIZER,
  ModuleCall: MODULE_CALL,
  Building: BUILDING,
} = FrameRole;
/** These two depend on the whole stack, not on one frame. */
const HOOK = 16;
const BACKWARD = 32;
/** Weights are copied along with their module: this makes no graph, even inside a forward method. */
const COPIED = 64;
/** backward() makes the gradient that it begins with. */
const FIRST_GRADIENT = 128;

export class StackClassifier {
  readonly #bits: Uint8Array;
  /** Row of the outermost module call in a stack; 0 = none. */
  readonly #moduleCall: Int32Array;
  /** By the row that calls `model.forward(x)` by name: the first row of that call, for all lines in it. */
  readonly #byName = new Map<StackIndex, StackIndex>();
  /** Row of the module call directly inside the outermost one; 0 = none. */
  readonly #innerModule: Int32Array;
  /** Row in which the user called the optimizer; 0 = none. */
  readonly #optimizerCall: Int32Array;

  constructor(input: DeviceTables) {
    const { length, frame, parent } = input.snapshot.stacks;
    this.#bits = new Uint8Array(length);
    this.#moduleCall = new Int32Array(length);
    this.#innerModule = new Int32Array(length);
    this.#optimizerCall = new Int32Array(length);
    const frames = readFrames(input);
    const byCaller = rolesByCaller(
      input.snapshot.stacks,
      frames.map(({ roles }) => roles),
    );
    for (let row = 1; row < length; row++) {
      const caller = frames[frame[parent[row]]];
      this.#derive(row, parent[row], frames[frame[row]], caller, byCaller[row]);
    }
  }

  #derive(
    row: number,
    above: number,
    own: FrameFacts,
    caller: FrameFacts | undefined,
    byCaller: number,
  ): void {
    let bits = this.#bits[above] | own.bits | (byCaller & OPTIMIZER);
    const isByName = (byCaller & MODULE_CALL) !== 0;
    // Lightning runs the user's training step inside optimizer.step(closure).
    const isModule = (own.bits & MODULE_CALL) !== 0;
    if ((own.isUser || isModule) && ((own.bits | byCaller) & OPTIMIZER) === 0) bits &= ~OPTIMIZER;
    const isFirstPython = (own.bits & PYTHON) !== 0 && (this.#bits[above] & PYTHON) === 0;
    if (isFirstPython && own.startsInAutograd) bits |= BACKWARD;
    const isCalledByModule = ((caller?.bits ?? 0) & MODULE_CALL) !== 0;
    if (isCalledByModule && own.isUser && !/forward/i.test(own.name)) bits |= HOOK;
    if (isByName) bits |= MODULE_CALL;
    const call = isByName ? getOrMake(this.#byName, above, () => row) : row;
    this.#moduleCall[row] = (bits & MODULE_CALL) !== 0 ? this.#moduleCall[above] || call : 0;
    this.#bits[row] = bits;
    // _wrapped_call_impl calls _call_impl: still the same module, until another kind of frame comes between.
    const isInner = isModule && !isCalledByModule && this.#moduleCall[row] !== row;
    this.#innerModule[row] = this.#innerModule[above] || (isInner ? row : 0);
    const isOptimizer = (bits & OPTIMIZER) !== 0;
    this.#optimizerCall[row] = isOptimizer ? this.#optimizerCall[above] || above : 0;
  }

  /** Runs in a backward thread: no Python at all, or Python that autograd called. */
  isBackward(stack: StackIndex): boolean {
    if (stack === NO_STACK) return false;
    if (stack === EMPTY_STACK) return true;
    return (this.#bits[stack] & PYTHON) === 0 || (this.#bits[stack] & BACKWARD) !== 0;
  }

  readonly #has = (stack: StackIndex, bit: number): boolean =>
    stack > EMPTY_STACK && (this.#bits[stack] & bit) !== 0;

  /** False if the Python line was not recorded or there was none. */
  readonly hasPython = (stack: StackIndex): boolean => this.#has(stack, PYTHON);
  readonly isOptimizer = (stack: StackIndex): boolean => this.#has(stack, OPTIMIZER);
  readonly isBuilding = (stack: StackIndex): boolean => this.#has(stack, BUILDING);
  /** In copy.deepcopy. */
  readonly isCopy = (stack: StackIndex): boolean => this.#has(stack, COPIED);
  readonly isFirstGradient = (stack: StackIndex): boolean => this.#has(stack, FIRST_GRADIENT);
  /** A user function that a module called and that is not a forward: a hook. */
  readonly isHook = (stack: StackIndex): boolean => this.#has(stack, HOOK);
  readonly isForward = (stack: StackIndex): boolean =>
    this.moduleCall(stack) > 0 && !this.isCopy(stack) && !this.isBackward(stack);

  /** The outermost, whose parent is the line that calls the model: `model(x)`, or `model.forward(x)` by name. */
  readonly moduleCall = (stack: StackIndex): StackIndex => this.#moduleCall[Math.max(0, stack)];
  /** The module call inside the outermost one: shows which part of the model allocates. */
  readonly innerModule = (stack: StackIndex): StackIndex => this.#innerModule[Math.max(0, stack)];
  readonly optimizerCall = (stack: StackIndex): StackIndex =>
    this.#optimizerCall[Math.max(0, stack)];
}

type FrameFacts = ReturnType<typeof readFrames>[number];

const readFrames = ({ snapshot, stacks }: DeviceTables) =>
  Array.from({ length: snapshot.frames.length }, (_, i) => {
    const frame = stacks.frame(i);
    const roles = frameRoles(frame, stacks.isPython(i));
    const isCopy = frame.kind === 'pytorch' && frame.name === '__deepcopy__';
    return {
      roles,
      bits:
        (roles & (PYTHON | OPTIMIZER | MODULE_CALL | BUILDING)) |
        (isCopy ? COPIED : 0) |
        ((roles & FrameRole.FirstGradient) === 0 ? 0 : FIRST_GRADIENT),
      isUser: frame.kind === 'user',
      name: frame.name,
      startsInAutograd: (roles & FrameRole.Autograd) !== 0,
    };
  });

/** What each frame of a call stack says about the allocating code, judged by its name and file. */
import { EMPTY_STACK, NO_STACK } from '../../format/snapshot/tables.ts';
import { classifyFrame, qualifiedName } from '../model/frame-kinds.ts';
import type { StackReader, StackSource } from '../model/stacks.ts';
import type { FrameView } from '../model/types.ts';

/** Bits of a frame; the bits of a stack are derived from them. */
export const FrameRole = {
  Python: 1,
  Optimizer: 2,
  /** PyTorch calls a module's forward. */
  ModuleCall: 4,
  /** A model is built, loaded, or moved. */
  Building: 8,
  /** Entry point of a program or thread. */
  Entry: 16,
  /** Where a backward thread's Python begins. */
  Autograd: 32,
  /** C++ of the backward pass. */
  Engine: 64,
  /** Forward code outside of modules too: torch.nn.functional and compiled graphs. */
  Functional: 128,
  Collective: 256,
  Workspace: 512,
  Loader: 1024,
  Cache: 2048,
  /** Activation checkpointing runs a forward again. */
  Recompute: 4096,
  /** The optimizer creates its state. */
  StateInit: 8192,
  User: 16384,
  /** A constructor. */
  Constructor: 32768,
  /** FSDP allocates room for gathered parameters. */
  Gathered: 65536,
  /** Weights are copied with their module. */
  Copied: 131072,
  /** A convolution's forward, which gives cuDNN a workspace. */
  Convolution: 262144,
  /** Makes the caches, and whatever else goes with them. */
  CacheSetup: 524288,
  /** C++ of a graph's node that frees what it saved. */
  Released: 1048576,
  /** A module's weights are moved: `.to()`, `.cuda()`, `.half()`. */
  Moved: 2097152,
  /** A function of the user's that is called forward. */
  NamedForward: 4194304,
  /** A function of the user's that is called step. */
  NamedStep: 8388608,
  /** C++ of cuDNN's recurrent layers: what it also frees there is scratch, the rest are outputs and gradients. */
  Recurrent: 16777216,
  /** backward() makes the gradient that it begins with. */
  FirstGradient: 33554432,
} as const;

const F = FrameRole;

/** A frame has the role if both match what it has: its file, its function. */
type Rule = readonly [role: number, file: RegExp | undefined, name?: RegExp];

const rolesBy = (rules: readonly Rule[], { name, filename }: NamedFrame): number =>
  rules.reduce((roles, [role, file, called]) => {
    const isHit = file?.test(filename) !== false && called?.test(name) !== false;
    return isHit ? roles | role : roles;
  }, 0);

const MODULE_FILE = /(^|[\\/])torch[\\/]nn[\\/]modules[\\/]module\.py$/;
const ENTRY = /^(<module>|_bootstrap|_bootstrap_inner|_run_code|_run_module_as_main)$/;

/** The rules shared by detectors and classes. */
const SHARED_RULES: readonly Rule[] = [
  [F.Optimizer, /(^|[\\/])torch[\\/]optim[\\/]/],
  // Optimizers of other packages: apex/optimizers, bitsandbytes/optim, …/optimizer.py.
  [F.Optimizer, /(^|[\\/])(optim(izers?)?[\\/]|[^\\/]*optimizer[^\\/]*\.py$)/i, /^step$/],
  [F.ModuleCall, MODULE_FILE, /^(_call_impl|_wrapped_call_impl|_slow_forward|inner)$/],
  [F.Building, MODULE_FILE, /^(_apply|to|cuda|convert|load_state_dict|_load_from_state_dict)$/],
  [
    F.Building,
    undefined,
    /^(from_pretrained|_load_pretrained_model|_init_weights|reset_parameters|dispatch_model)$/,
  ],
  [F.Entry, undefined, ENTRY],
  [F.FirstGradient, undefined, /^_make_grads$/],
  // Where a backward thread's Python begins: custom Functions, tensor hooks, checkpoint's recomputation.
  [F.Autograd, /(^|[\\/])torch[\\/](autograd|utils[\\/]checkpoint|_functorch|_dynamo)/],
];

const CLASS_RULES: readonly Rule[] = [
  [
    F.Functional,
    /(^|[\\/])(torch[\\/](nn[\\/]functional\.py|_dynamo[\\/]eval_frame\.py|_functorch[\\/]|_inductor[\\/]|autograd[\\/]function\.py)|torchinductor_[^\\/]*[\\/])/,
  ],
  // FSDP's and DDP's own collectives, and callers of NCCL.
  [
    F.Collective,
    /(^|[\\/])(torch[\\/]distributed[\\/](distributed_c10d|_functional_collectives|nn[\\/]functional|fsdp[\\/]_fully_shard[\\/](_fsdp_collectives|_fsdp_param_group)|fsdp[\\/]_runtime_utils|_symmetric_memory)|torch[\\/]nn[\\/]parallel[\\/]distributed\.py|deepspeed[\\/]comm[\\/])/,
  ],
  // Of DataParallel: its scatter copies the batch.
  [F.Collective, /(^|[\\/])torch[\\/]nn[\\/]parallel[\\/]comm\.py$/, /^(broadcast|reduce|gather)/],
  [F.Loader, /(^|[\\/])torch[\\/]nn[\\/]parallel[\\/]comm\.py$/, /^scatter/],
  [F.Loader, /(^|[\\/])torch[\\/]utils[\\/]data[\\/]/],
  // A program's own data_loader.py, dataset.py, data/datasets.py: what these build is data, not weights.
  [F.Loader, /(^|[\\/])\w*data_?(loader|set|module)s?\.py$/i],
  [
    F.Loader,
    undefined,
    /^(_prepare_inputs?|send_to_device|move_data_to_device|batch_to_device|transfer_batch_to_device|_pin_memory_loop)$/,
  ],
  [F.Cache, /(^|[\\/])(cache_utils|static_cache|(\w*_)?kv_?(cache|pool|buffer)\w*)\.py$/i],
  // SGLang's memory pools.
  [F.Cache, /(^|[\\/])mem_cache[\\/]/],
  [F.Cache, undefined, /kv_?(cache|pool|buffer)|_allocate_kv/i],
  [F.CacheSetup, undefined, /^_?(setup|init|make|allocate)_caches?$/i],
  [F.Recompute, /(^|[\\/])torch[\\/]utils[\\/]checkpoint\.py$/],
  [F.StateInit, undefined, /^_?(init_group|init_state|state_init|init_param_state)$/],
  [
    F.Building,
    /(^|[\\/])torch[\\/](nn[\\/](init|parameter)\.py|serialization\.py|distributed[\\/]fsdp[\\/](_fully_shard[\\/](_fully_shard|_fsdp_init|_fsdp_state_dict)|_init_utils|_flat_param|wrap|_wrap_utils)\.py)|(^|[\\/])(safetensors|peft[\\/]tuners)[\\/]/,
  ],
  [
    F.Building,
    undefined,
    /^(__deepcopy__|_load_state_dict_into_\w+|set_module_tensor_to_device|_move_adapter_to_device_of_base_layer|_init_sharded_param|_materialize\w*|to_empty)$/,
  ],
  [
    F.Gathered,
    undefined,
    /^(init_all_gather_outputs|alloc_all_gather_outputs|_alloc_padded_unsharded_flat_param)$/,
  ],
  [F.Moved, MODULE_FILE, /^_apply$/],
  // Weights in another form: `remove_weight_norm(conv)` makes one tensor of a direction and its length.
  [F.Building, /(^|[\\/])torch[\\/]nn[\\/]utils[\\/]/, /^(remove|remove_\w+|fuse_\w+)$/],
  [F.Convolution, /(^|[\\/])torch[\\/]nn[\\/]modules[\\/]conv\.py$/],
  [F.Constructor, undefined, /^__init__$/],
  // Calls of backward() and grad(), in the thread that waits for them.
  [F.Engine, undefined, /^(_engine_run_backward|_make_grads)$/],
];

type NamedFrame = Pick<FrameView, 'name' | 'filename' | 'kind'>;

/** The bits shared by detectors and classes. */
export function frameRoles(frame: NamedFrame, isPython: boolean): number {
  if (!isPython) return 0;
  const isUser = frame.kind === 'user';
  let roles = F.Python | rolesBy(SHARED_RULES, frame);
  if (isUser) roles |= F.User;
  if (isUser && frame.name === '__init__') roles |= F.Building;
  if (isUser && frame.name === 'forward') roles |= F.NamedForward;
  if (isUser && frame.name === 'step') roles |= F.NamedStep;
  return (roles & F.Entry) === 0 ? roles : roles & ~F.Autograd;
}

/**
 * What a row of the stack tree is by its caller, beside its own frame's roles: `model.forward(x)` by name is a module call
 * without PyTorch's `_call_impl` in between, and the `step` that torch.optim calls is of the user's own optimizer. C++ may
 * be in between.
 *
 * @param roles by frame
 */
export function rolesByCaller(
  { length, frame, parent }: StackSource['stacks'],
  roles: ArrayLike<number>,
): Uint32Array {
  const found = new Uint32Array(length);
  /** Roles of the innermost Python frame. */
  const python = new Uint32Array(length);
  for (let row = 1; row < length; row++) {
    const own = roles[frame[row]];
    const caller = python[parent[row]];
    // The decorator of `@torch.no_grad() def step(self)` is in between too.
    const passed = (own & F.User) === 0 ? caller & F.Optimizer : 0;
    python[row] = (own & F.Python) === 0 ? caller : own | passed;
    if ((own & F.NamedForward) !== 0 && (caller & F.User) !== 0) found[row] = F.ModuleCall;
    if ((own & F.NamedStep) !== 0 && (caller & F.Optimizer) !== 0) found[row] = F.Optimizer;
  }
  return found;
}

const ENGINE =
  /^torch::autograd::(Engine::|(generated::)?(?!Function::|PyNode::|Node::|VariableType::)\w+::apply)/;
const RELEASED = /^torch::autograd::(generated::)?\w+::release_variables$/;
const CPP_COLLECTIVE = /^c10d::/;
/** cuDNN's convolutions write into tensors of their callers: what they allocate is scratch, also while they try algorithms. */
const CPP_WORKSPACE =
  /^(at::cuda::(setWorkspaceForHandle|getCUDABlasLtWorkspace|getNewWorkspace|getCurrentCUDABlasHandle|getNewCUDABlasLtWorkspace)|at::native::(run_(conv_plan|single_conv|fused_conv)|\w*Workspace::Workspace|Workspace::Workspace))/;

const CPP_RECURRENT = /^at::native::_cudnn_rnn/;
/** Its gradients outlive the call; what is freed at once is scratch, such as the columns of slow_conv2d_backward. */
const CPP_CONVOLUTION = /^at::native::convolution_backward\b/;

/** The bits of each frame, including those only classes need. */
function allFrameRoles(source: StackSource, reader: StackReader): Uint32Array {
  const { strings, frames } = source;
  const roles = new Uint32Array(frames.length);
  for (let frame = 0; frame < frames.length; frame++) {
    const name = strings.get(frames.name[frame]);
    if (!reader.isPython(frame)) {
      roles[frame] = cppRoles(qualifiedName(name));
      continue;
    }
    const filename = strings.get(frames.filename[frame]);
    const named = { name, filename, kind: classifyFrame(name, filename).kind };
    roles[frame] = frameRoles(named, true) | rolesBy(CLASS_RULES, named);
    if (name === '__deepcopy__' && named.kind === 'pytorch') roles[frame] |= F.Copied;
  }
  const modules = moduleFiles(source, roles);
  for (let frame = 0; frame < frames.length && modules.size > 0; frame++) {
    const isOwn = (roles[frame] & F.Constructor) !== 0 && (roles[frame] & F.User) !== 0;
    if (isOwn && !modules.has(frames.filename[frame])) roles[frame] &= ~OF_CONSTRUCTOR;
  }
  return roles;
}

const OF_CONSTRUCTOR = F.Constructor | F.Building;

/**
 * Files with a function that PyTorch called as a module's forward. The constructors in your other files build a data set,
 * a replay buffer or a trainer, and no module, unless what they call does:
 *
 *     model.py:60  (forward) ← module.py (_call_impl)    model.py:12 (__init__) builds a module
 *     table.py:26  (__getitem__)                         table.py:16 (__init__) does not
 */
function moduleFiles({ stacks, frames }: StackSource, roles: Uint32Array): ReadonlySet<number> {
  const { length, frame, parent } = stacks;
  const files = new Set<number>();
  /** 1: the innermost Python is PyTorch's call of a module. */
  const isCall = new Uint8Array(length);
  for (let row = 1; row < length; row++) {
    const own = roles[frame[row]];
    const isPython = (own & F.Python) !== 0;
    isCall[row] = isPython ? Number((own & F.ModuleCall) !== 0) : isCall[parent[row]];
    const isCalled = isPython && isCall[parent[row]] > isCall[row];
    if (isCalled) files.add(frames.filename[frame[row]]);
  }
  return files;
}

function cppRoles(symbol: string): number {
  if (ENGINE.test(symbol)) return F.Engine;
  if (RELEASED.test(symbol)) return F.Released;
  if (CPP_COLLECTIVE.test(symbol)) return F.Collective;
  if (CPP_RECURRENT.test(symbol)) return F.Recurrent;
  if (CPP_CONVOLUTION.test(symbol)) return F.Convolution;
  return CPP_WORKSPACE.test(symbol) ? F.Workspace : 0;
}

/**
 * What a call stack says about the allocating code. Each row of the stack tree gets one role, derived from its caller's
 * row, so each of millions of allocations costs one lookup.
 */

/** The kind of code that allocates or frees. */
export const StackRole = {
  /** No stack, or C++ without information. */
  Unknown: 0,
  Host: 1,
  Forward: 2,
  Backward: 3,
  Optimizer: 4,
} as const;
export type StackRole = (typeof StackRole)[keyof typeof StackRole];

export interface StackRoles {
  /** {@link StackRole} at row stack + 1; row 0 means no stack. */
  readonly role: Uint8Array;
  /** Bits of {@link FrameRole} at row stack + 1. */
  readonly hints: Uint32Array;
  /** The frame of Python that calls the model, at row stack + 1; -1 for none. */
  readonly caller: Int32Array;
}

const FORWARD = F.ModuleCall | F.Functional;
/** Valid only until user code or a module is called: an optimizer runs closures, a loader runs collate functions. */
const SCOPED =
  F.Optimizer |
  F.StateInit |
  F.Collective |
  F.Loader |
  F.Cache |
  F.Gathered |
  F.Copied |
  F.Convolution |
  F.CacheSetup;
const INHERITED =
  F.Python |
  FORWARD |
  SCOPED |
  F.Building |
  F.Autograd |
  F.Workspace |
  F.Recurrent |
  F.Recompute |
  F.Released |
  F.FirstGradient |
  F.Moved;

export function stackRoles(source: StackSource, reader: StackReader): StackRoles {
  const { length, frame, parent } = source.stacks;
  const frames = allFrameRoles(source, reader);
  const hasEntries = frames.some((roles) => (roles & F.Entry) !== 0);
  const hasCpp = frames.some((roles) => (roles & F.Python) === 0);
  const byCaller = rolesByCaller(source.stacks, frames);
  const bits = new Uint32Array(length);
  /** The innermost frame of Python. */
  const python = new Int32Array(length).fill(-1);
  const role = new Uint8Array(length + 1);
  const hints = new Uint32Array(length + 1);
  const caller = new Int32Array(length + 1).fill(-1);
  role[EMPTY_STACK - NO_STACK] = StackRole.Backward;
  for (let row = 1; row < length; row++) {
    const own = frames[frame[row]] | byCaller[row];
    bits[row] = derive(bits[parent[row]], own, hasEntries);
    role[row - NO_STACK] = roleOf(bits[row], hasCpp);
    hints[row - NO_STACK] = bits[row];
    python[row] = (frames[frame[row]] & F.Python) === 0 ? python[parent[row]] : frame[row];
    const isInCall = (bits[row] & F.ModuleCall) !== 0;
    const above = caller[parent[row] - NO_STACK];
    // Rows of C++ between two frames of Python may differ from stack to stack.
    caller[row - NO_STACK] = isInCall && above < 0 ? python[parent[row]] : above;
  }
  return { role, hints, caller };
}

/** A row's bits, from its caller's and its own frame's. Autograd stands for "in the backward pass". */
function derive(above: number, own: number, hasEntries: boolean): number {
  let bits = above & INHERITED;
  const isCode = (own & (F.User | F.ModuleCall)) !== 0;
  // What sets caches up calls their constructors: setup_caches → KVCache.__init__.
  const isCacheMade = (own & F.Constructor) !== 0 && (above & F.CacheSetup) !== 0;
  if (isCode) bits &= ~(SCOPED & ~own);
  if (isCacheMade) bits |= F.Cache;
  // A collective's setup allocates for the collective, except for the parameters that it takes over.
  if ((own & F.Building) !== 0) bits &= ~F.Collective;
  // Once a module is called, it is no longer being built.
  if ((own & F.ModuleCall) !== 0) bits &= ~(F.Building | F.Moved);
  const isFirstPython = (own & F.Python) !== 0 && (above & F.Python) === 0;
  const isCalledByEngine =
    isFirstPython && (own & F.Entry) === 0 && (hasEntries || (own & F.Autograd) !== 0);
  bits |= own & INHERITED & ~F.Autograd;
  // A reentrant checkpoint calls backward() on what it has rerun: that is not recomputation.
  if ((own & F.Engine) !== 0 && (own & F.Python) !== 0) bits &= ~F.Recompute;
  if (isCalledByEngine || (own & F.Engine) !== 0) bits |= F.Autograd;
  // A cache has a constructor too. What that calls may still build a module.
  if (isCacheMade || (own & F.Cache) !== 0) return bits & ~F.Building;
  if ((own & F.Constructor) === 0) return bits;
  // A forward pass may make objects too, which are not the model: `corr = CorrBlock(f1, f2)`.
  return (bits & FORWARD) === 0 ? bits | F.Building : (bits & ~F.Building) | (above & F.Building);
}

function roleOf(bits: number, hasCpp: boolean): StackRole {
  if ((bits & F.Autograd) !== 0) return StackRole.Backward;
  if ((bits & F.Python) === 0) return hasCpp ? StackRole.Unknown : StackRole.Backward;
  if ((bits & F.Optimizer) !== 0) return StackRole.Optimizer;
  return (bits & FORWARD) !== 0 ? StackRole.Forward : StackRole.Host;
}

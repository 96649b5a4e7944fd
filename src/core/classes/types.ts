/**
 * What an allocation is to the program: a parameter, a gradient, an activation. PyTorch does not record
 * this, so it is inferred, and every answer keeps the evidence that it rests on. What no evidence
 * decides is called unknown; it is never spread over the other classes.
 */
import type { PoolKind } from '../device/pool-kinds.ts';
import type { StackReader, StackSource } from '../device/stacks.ts';
import type { AllocationDetails } from '../device/types.ts';
import type { AllocationIndex, Replay } from '../replay/types.ts';
import type { DeviceTrace, Snapshot } from '../snapshot/tables.ts';

/** The numbers are those of {@link Classification.classOf}; new ones go at the end. */
export const MemoryClass = {
  Unknown: 0,
  Parameters: 1,
  Gradients: 2,
  OptimizerState: 3,
  Activations: 4,
  Temporaries: 5,
  Inputs: 6,
  Communication: 7,
  Workspaces: 8,
  GrowingState: 9,
  Kept: 10,
} as const;
export type MemoryClass = (typeof MemoryClass)[keyof typeof MemoryClass];

/** What JSON, links, and the search call a class. */
export type MemoryClassId =
  | 'unknown'
  | 'parameters'
  | 'gradients'
  | 'optimizer-state'
  | 'activations'
  | 'temporaries'
  | 'inputs'
  | 'communication'
  | 'workspaces'
  | 'growing-state'
  | 'kept';

export interface MemoryClassInfo {
  readonly id: MemoryClassId;
  /** For people, in lower case: 'optimizer state'. */
  readonly label: string;
  /** What belongs to it, in one sentence. */
  readonly about: string;
}

/** By {@link MemoryClass}. */
export const MEMORY_CLASSES: readonly MemoryClassInfo[] = [
  { id: 'unknown', label: 'unknown', about: 'Nothing in the recording says what it is.' },
  {
    id: 'parameters',
    label: 'parameters and buffers',
    about: 'The weights and buffers of the model.',
  },
  {
    id: 'gradients',
    label: 'gradients',
    about: 'What the backward pass leaves for the optimizer.',
  },
  {
    id: 'optimizer-state',
    label: 'optimizer state',
    about: 'What the optimizer keeps from step to step, such as the two moments of Adam.',
  },
  {
    id: 'activations',
    label: 'activations',
    about: 'What the forward pass keeps for the backward pass, and the output of the model.',
  },
  {
    id: 'temporaries',
    label: 'temporaries',
    about: 'Freed before the pass that made it was over.',
  },
  { id: 'inputs', label: 'inputs', about: 'Batches and targets, made outside of the model.' },
  {
    id: 'communication',
    label: 'communication buffers',
    about: 'What collectives send and receive.',
  },
  { id: 'workspaces', label: 'workspaces', about: 'Scratch memory of cuBLAS and cuDNN.' },
  {
    id: 'growing-state',
    label: 'KV cache and growing state',
    about: 'A key-value cache, or another tensor that is replaced by a larger one again and again.',
  },
  {
    id: 'kept',
    label: 'kept over steps',
    about: 'Made within a step and still live several steps later: a cache, or a leak.',
  },
];

/** The order in which legends, tables, and bands list the classes, from the most lasting on. */
export const MEMORY_CLASS_ORDER: readonly MemoryClass[] = [
  MemoryClass.Parameters,
  MemoryClass.OptimizerState,
  MemoryClass.Gradients,
  MemoryClass.Activations,
  MemoryClass.Inputs,
  MemoryClass.Temporaries,
  MemoryClass.Communication,
  MemoryClass.Workspaces,
  MemoryClass.GrowingState,
  MemoryClass.Kept,
  MemoryClass.Unknown,
];

export const classInfo = (of: MemoryClass): MemoryClassInfo => MEMORY_CLASSES[of];

/** 'class:gradients', the search for a class. */
export const classTerm = (of: MemoryClass): string => `class:${MEMORY_CLASSES[of].id}`;

/** For legends, in their order. */
export function classLabels() {
  return MEMORY_CLASS_ORDER.map((of) => {
    const { label, about } = MEMORY_CLASSES[of];
    return { class: of, label, about, term: classTerm(of) };
  });
}

/** The numbers are those of {@link Classification.evidenceOf}; new ones go at the end. */
export const Evidence = {
  None: 0,
  Metadata: 1,
  Category: 2,
  BuiltAndKept: 3,
  OptimizerKept: 4,
  OptimizerFreed: 5,
  BackwardKept: 6,
  BackwardFreed: 7,
  FreedInBackward: 8,
  LiveUntilBackward: 9,
  ForwardFreed: 10,
  OutlivesForward: 11,
  Recomputed: 12,
  OutsideModules: 13,
  DataLoader: 14,
  Collective: 15,
  WorkspaceStack: 16,
  WorkspaceSize: 17,
  CacheStack: 18,
  Grows: 19,
  OutlivesSteps: 20,
  SizeOfParameter: 21,
  SameSite: 22,
  BeforeFirstStep: 23,
  BeforeRecording: 24,
  NoStack: 25,
  Reduced: 26,
  Gathered: 27,
  CopiedWeights: 28,
  ConvolutionFreed: 29,
  SizeOfGradient: 30,
} as const;
export type Evidence = (typeof Evidence)[keyof typeof Evidence];

/** Why an allocation has its class, to be read after "because": by {@link Evidence}. */
export const EVIDENCE_TEXTS: readonly string[] = [
  'nothing decides it',
  'the program recorded what it is (annotation or metadata)',
  "the profiler's category says so",
  'it was allocated while a module was built, loaded, or moved',
  'it was allocated in the optimizer, and outlived the step',
  'it was allocated in the optimizer, and freed there',
  'it was allocated in the backward pass, and outlived it',
  'it was allocated in the backward pass, and freed there',
  'it was allocated before the backward pass, and the backward pass freed it',
  'it was allocated in the forward pass, and lived until the backward pass',
  'it was allocated in the forward pass, and freed before that was over',
  'it was allocated in the forward pass, and outlived it; no backward pass followed',
  'activation checkpointing computed it again, and the backward pass used it',
  'it was allocated outside of modules, and lived through the step',
  'a data loader, or what moves batches to the device, allocated it',
  'a collective allocated it',
  'cuBLAS or cuDNN allocated it for itself',
  'it has the size of a cuBLAS workspace, and outlived the steps',
  'code that manages a key-value cache allocated it',
  'the same line replaced it by a larger one again and again',
  'it was allocated within a step, and lived for several more',
  'it has the size of a parameter',
  'other allocations of the same call site were of this class',
  'it was allocated before the first step, and was kept',
  'it was allocated before the recording began',
  'no stack was recorded',
  'it was allocated in the backward pass, and freed by the collective that reduces gradients',
  'FSDP gathered the parameters of all ranks in it',
  'it is a copy of weights that gets no gradient',
  'a convolution allocated it, and freed it at once',
  'it was allocated before the first step, and each backward pass makes gradients of its size',
];

/** What of a device is read. */
export interface ClassSource {
  readonly snapshot: StackSource & Partial<Pick<Snapshot, 'labels' | 'addresses' | 'startUs'>>;
  readonly trace: Pick<DeviceTrace, 'events'>;
  readonly replay: Pick<Replay, 'allocations' | 'allocationOfEvent'>;
  readonly stacks: StackReader;
}

/** A class for every allocation, by AllocationIndex. */
export interface Classification {
  /** {@link MemoryClass} */
  readonly classOf: Uint8Array;
  /** {@link Evidence} */
  readonly evidenceOf: Uint8Array;
  /** Names that the program gave: 'blocks.0.qkv.weight'. */
  readonly names: ReadonlyMap<AllocationIndex, string>;
}

/** All that is said of one allocation. */
export interface ClassifiedDetails extends AllocationDetails {
  readonly memoryClass: MemoryClassInfo;
  /** To be read after "because". */
  readonly classReason: string;
  readonly name: string | undefined;
  /** Undefined for the default pool. */
  readonly poolKind: PoolKind | undefined;
}

/** Bytes and number of the allocations of one class at some event. */
export interface ClassTotal {
  readonly class: MemoryClass;
  readonly bytes: number;
  readonly count: number;
}

/** The class of one allocation. */
export const classAt = ({ classOf }: Classification, id: AllocationIndex): MemoryClassInfo =>
  MEMORY_CLASSES[classOf[id]];

/** What says so, to be read after "because". */
export const evidenceAt = ({ evidenceOf }: Classification, id: AllocationIndex): string =>
  EVIDENCE_TEXTS[evidenceOf[id]];

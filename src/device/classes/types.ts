/**
 * What an allocation is to the program: a parameter, a gradient, an activation. PyTorch does not record this, so we
 * infer it and keep the evidence. Without evidence an allocation is unknown; it is never spread over the other classes.
 */

import type { AllocationIndex, Replay } from '../../allocator/replay/types.ts';
import type { DeviceTrace, Snapshot } from '../../format/snapshot/tables.ts';
import type { AllocationDetails } from '../model/allocation-details.ts';
import type { PoolKind } from '../model/allocation-labels.ts';
import type { Holder } from '../model/holders.ts';
import type { StackReader, StackSource } from '../model/stacks.ts';

/** Id, label, description. Add new ones at the end. */
const CLASSES = {
  Unknown: ['unknown', 'unknown', 'Nothing in the recording says what it is.'],
  Parameters: [
    'parameters',
    'parameters and buffers',
    'The weights and buffers of the model, and copies made of them.',
  ],
  Gradients: ['gradients', 'gradients', 'What the backward pass leaves for the optimizer.'],
  OptimizerState: [
    'optimizer-state',
    'optimizer state',
    'What the optimizer keeps from step to step, such as the two moments of Adam.',
  ],
  Activations: [
    'activations',
    'activations',
    'What a forward pass keeps for its backward pass or, while it runs, for its next layers; and the output of the model.',
  ],
  Temporaries: [
    'temporaries',
    'temporaries',
    'Scratch memory, freed before its pass is over or before a backward pass could use it.',
  ],
  Inputs: [
    'inputs',
    'inputs',
    'Batches, targets and whatever else your own code makes outside of modules.',
  ],
  Communication: ['communication', 'communication buffers', 'What collectives send and receive.'],
  Workspaces: ['workspaces', 'workspaces', 'Scratch memory of cuBLAS, cuDNN and convolutions.'],
  GrowingState: [
    'growing-state',
    'KV cache and growing state',
    'A key-value cache, or another tensor that is replaced by a larger one again and again.',
  ],
  Kept: [
    'kept',
    'kept tensors',
    'It outlived several later steps or forward passes: a cache, or a leak.',
  ],
} as const;

/** Numbers the names of a table in order. */
const numbered = <Name extends string>(table: Readonly<Record<Name, unknown>>) =>
  Object.fromEntries(Object.keys(table).map((name, place) => [name, place])) as {
    readonly [K in Name]: number;
  };

/** Values of {@link Classification.classOf}. */
export type MemoryClass = number;
export const MemoryClass = numbered(CLASSES);

/** The class's name in JSON, links and searches. */
export type MemoryClassId = (typeof CLASSES)[keyof typeof CLASSES][0];

/** `about`: what belongs to the class, in one sentence. */
export type MemoryClassInfo = (typeof MEMORY_CLASSES)[number];

/** Index: {@link MemoryClass}. */
export const MEMORY_CLASSES = Object.values(CLASSES).map(([id, label, about]) => ({
  id: id as MemoryClassId,
  label: label as string,
  about: about as string,
}));

/** Display order in legends, tables and charts, longest-lived first. */
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

/** 'optimizer state' for an id; other names (parts that are not memory classes) are returned as is. */
export const classLabel = (id: string): string =>
  MEMORY_CLASSES.find((known) => known.id === id)?.label ?? id.replaceAll('-', ' ');

/** 'class:gradients', the search term for a class. */
export const classTerm = (of: MemoryClass): string => `class:${MEMORY_CLASSES[of].id}`;

/** In display order. */
export function classLabels() {
  return MEMORY_CLASS_ORDER.map((of) => {
    const { label, about } = MEMORY_CLASSES[of];
    return { class: of, label, about, term: classTerm(of) };
  });
}

const { Unknown, Parameters, Gradients, OptimizerState, Activations, Temporaries } = MemoryClass;
const { Inputs, Communication, Workspaces, GrowingState, Kept } = MemoryClass;

/**
 * Why an allocation has its class: the class, and the reason, which follows "because". For what the program or the
 * profiler wrote, the class is what they say. Add new ones at the end.
 */
const EVIDENCE = {
  None: [Unknown, 'nothing decides it'],
  Metadata: [Unknown, 'the program recorded what it is (annotation or metadata)'],
  Category: [Unknown, "the profiler's category says so"],
  BuiltAndKept: [Parameters, 'it was allocated while a module was built, loaded, or moved'],
  OptimizerKept: [OptimizerState, 'it was allocated in the optimizer, and outlived the step'],
  OptimizerFreed: [Temporaries, 'it was allocated in the optimizer, and freed there'],
  BackwardKept: [Gradients, 'it was allocated in the backward pass, and outlived it'],
  BackwardFreed: [Temporaries, 'it was allocated in the backward pass, and freed there'],
  FreedInBackward: [
    Activations,
    'it was allocated before the backward pass, and the backward pass freed it',
  ],
  LiveUntilBackward: [
    Activations,
    'it was allocated in the forward pass, and was still there in the backward pass',
  ],
  ForwardFreed: [
    Temporaries,
    'it was allocated in the forward pass, and freed before that was over',
  ],
  OutlivesForward: [
    Activations,
    'it was allocated in the forward pass, and still there when that ended or broke off; no backward pass followed',
  ],
  Recomputed: [
    Activations,
    'activation checkpointing computed it again, and the backward pass used it',
  ],
  OutsideModules: [
    Inputs,
    'it was allocated outside of modules, and neither freed soon nor kept over several steps',
  ],
  DataLoader: [
    Inputs,
    'by the names on its stack, code that loads data or moves batches to the device allocated it',
  ],
  Collective: [Communication, 'a collective allocated it'],
  WorkspaceStack: [Workspaces, 'cuBLAS or cuDNN allocated it for itself'],
  WorkspaceSize: [Workspaces, 'it has the size of a cuBLAS workspace, and outlived the steps'],
  CacheStack: [GrowingState, 'code that manages a key-value cache allocated it'],
  Grows: [GrowingState, 'the same line replaced it by a larger one again and again'],
  OutlivesSteps: [Kept, 'it outlived several later steps or forward passes'],
  SizeOfParameter: [Gradients, 'it has the size of a parameter'],
  SameSite: [Kept, 'other allocations of the same call site were of this class'],
  BeforeFirstStep: [
    Inputs,
    'it was allocated before the first step outside of modules, and was kept',
  ],
  BeforeRecording: [Unknown, 'it was allocated before the oldest event of the recording'],
  NoStack: [Unknown, 'no stack was recorded'],
  Reduced: [
    Gradients,
    'it was allocated in the backward pass, and freed by the collective that reduces gradients',
  ],
  Gathered: [Parameters, 'FSDP gathered the parameters of all ranks in it'],
  CopiedWeights: [
    Parameters,
    'it is part of one of several copies of the model: there are more tensors of its sizes than any one backward pass made gradients for',
  ],
  ConvolutionFreed: [Workspaces, 'a convolution allocated it, and freed it at once'],
  SizeOfGradient: [
    Parameters,
    'it was allocated before the first step, and each backward pass makes gradients of its size',
  ],
  Held: [
    Unknown,
    'a module or an optimizer of the program held it as that when the snapshot was taken',
  ],
  BeyondGradients: [
    Activations,
    'it was allocated in the backward pass, and is not of the size of any parameter, as in a graph of gradients',
  ],
  FreedEarlier: [
    Temporaries,
    'what the same line allocated before was freed in the forward pass or soon after, and this pass breaks off',
  ],
  ForwardDropped: [
    Temporaries,
    'it was allocated in the forward pass, and freed after it, before any backward pass',
  ],
  HostFreed: [
    Temporaries,
    'it was allocated outside of modules, and freed soon or before the next pass',
  ],
  GraphFreed: [
    Activations,
    'it was allocated in the forward pass, and kept by its graph, which was freed without a backward pass',
  ],
  NoPasses: [
    Inputs,
    'it was allocated outside of modules, and no forward pass, backward pass or optimizer was recorded',
  ],
  MovedGradient: [Gradients, 'it was moved right after its parameter, whose size it has'],
  Replaced: [
    Parameters,
    'each step made it again in the sizes of parameters, in place of the one before, and no backward pass freed it',
  ],
  MadeOnce: [
    Parameters,
    'a module made it in a forward pass and kept it, and its later passes made no more',
  ],
} as const;

/** The value type of {@link Classification.evidenceOf}. */
export type Evidence = number;
export const Evidence = numbered(EVIDENCE);

/** Index: {@link Evidence}. */
export const EVIDENCE_TEXTS: readonly string[] = Object.values(EVIDENCE).map(([, text]) => text);
export const CLASS_OF_EVIDENCE = Uint8Array.from(Object.values(EVIDENCE), ([of]) => of);

export interface ClassSource {
  readonly snapshot: StackSource &
    Partial<Pick<Snapshot, 'labels' | 'addresses' | 'startUs' | 'holders'>>;
  readonly trace: Pick<DeviceTrace, 'events'>;
  readonly replay: Pick<Replay, 'allocations' | 'allocationOfEvent'>;
  readonly stacks: StackReader;
}

/** Indexed by AllocationIndex. */
export interface Classification {
  /** {@link MemoryClass} */
  readonly classOf: Uint8Array;
  /** {@link Evidence} */
  readonly evidenceOf: Uint8Array;
  /** Names that the program gave: 'blocks.0.qkv.weight'. */
  readonly names: ReadonlyMap<AllocationIndex, string>;
  /**
   * For parameters: the number of the untrained copy of the model they belong to (a reference policy, averaged
   * weights), from 1 on in order of creation. For optimizer state: how many older sets were still live when it was
   * made. Absent for the trained model and its first optimizer.
   */
  readonly copies: ReadonlyMap<AllocationIndex, number>;
}

export interface ClassifiedDetails extends AllocationDetails {
  readonly memoryClass: MemoryClassInfo;
  /** Follows "because". */
  readonly classReason: string;
  readonly name: string | undefined;
  /** What held it at snapshot time; undefined if unknown. */
  readonly holder: Holder | undefined;
  /** Undefined for the default pool. */
  readonly poolKind: PoolKind | undefined;
}

/** Bytes and count of one class's allocations at an event. */
export interface ClassTotal {
  readonly class: MemoryClass;
  readonly bytes: number;
  readonly count: number;
}

export const classAt = ({ classOf }: Classification, id: AllocationIndex): MemoryClassInfo =>
  MEMORY_CLASSES[classOf[id]];

/** The evidence, to follow "because". */
export const evidenceAt = ({ evidenceOf }: Classification, id: AllocationIndex): string =>
  EVIDENCE_TEXTS[evidenceOf[id]];

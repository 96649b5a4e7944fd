/**
 * What a program runs, judged by the files in its call stacks: a wrapper, a compiler, an optimizer, functions of the
 * user. If only one side has one, that is a cause with a name.
 */
import { addUp, largestFirst } from '../../base/collections.ts';
import type { FrameAlignment } from './align-frames.ts';
import { framesOf, lineOf } from './change-text.ts';
import type { RunProfile, SideFrame } from './types.ts';

export type Feature = 'checkpointing' | 'fsdp' | 'ddp' | 'deepspeed' | 'peft' | 'compiling';

/** By the files in call stacks; `otherwise` is what the side without it does. */
export const FEATURES: Readonly<
  Record<Feature, { files: RegExp; says: string; otherwise?: string }>
> = {
  checkpointing: {
    files:
      /(^|[\\/])torch[\\/]utils[\\/]checkpoint\.py|activation_checkpointing[\\/]|checkpoint_wrapper\.py/,
    says: 'checkpoints activations',
  },
  fsdp: {
    files: /(^|[\\/])torch[\\/]distributed[\\/](_composable[\\/])?fsdp[\\/]/,
    says: 'shards the model with FSDP',
  },
  ddp: {
    files: /(^|[\\/])torch[\\/]nn[\\/]parallel[\\/]distributed\.py/,
    says: 'copies the model to every GPU with DDP',
  },
  deepspeed: { files: /(^|[\\/])deepspeed[\\/]/, says: 'runs under DeepSpeed' },
  peft: { files: /(^|[\\/])peft[\\/]/, says: 'trains adapters (PEFT)' },
  compiling: {
    files:
      /(^|[\\/])(torchinductor_[^\\/]*[\\/]|torch[\\/]_inductor[\\/]|\.?triton[\\/]cache[\\/])/,
    says: 'runs compiled code (torch.compile)',
    otherwise: 'runs eagerly',
  },
};

export const FEATURE_NAMES = Object.keys(FEATURES) as Feature[];

const OPTIMIZER =
  /(?:^|[\\/])(?:torch[\\/]optim|bitsandbytes[\\/]optim|apex[\\/]optimizers|transformers[\\/]optimization)[\\/]?_?([a-z0-9]+)(?![a-z0-9])\w*\.py$/i;
const NO_OPTIMIZER = new Set(['optimizer', 'lr', 'swa', 'functional', 'multi']);
const OPTIMIZER_LABELS: Readonly<Record<string, string>> = {
  adam: 'Adam',
  adamw: 'AdamW',
  adamax: 'Adamax',
  sgd: 'SGD',
  adagrad: 'Adagrad',
  adadelta: 'Adadelta',
  adafactor: 'Adafactor',
  rmsprop: 'RMSprop',
  muon: 'Muon',
  lbfgs: 'LBFGS',
};

const RECOMPUTES = /^(unpack_hook|recompute_fn|backward)$/;

export type Program = ReturnType<typeof programOf>;

export function programOf(side: RunProfile) {
  const facts = side.frames.map(factsOf);
  const features = new Set<Feature>();
  const optimizers = new Map<string, number>();
  const recomputed = new Map<SideFrame, number>();
  for (const { stack, totalBytes } of side.runs) {
    const frames = Array.from(framesOf(side, stack), (frame) => facts[frame]);
    for (const feature of frames.flatMap((own) => own.features)) features.add(feature);
    const optimizer = frames.find((own) => own.optimizer !== undefined)?.optimizer;
    if (optimizer !== undefined) addUp(optimizers, optimizer, totalBytes);
    const line = frames.some(({ recomputes }) => recomputes) ? lineOf(side, stack) : undefined;
    if (line !== undefined) addUp(recomputed, line, totalBytes);
  }
  return {
    features,
    /** 'Adam'; undefined if no optimizer allocated anything. */
    optimizer: largestFirst(optimizers)[0]?.[0],
    /** Whether anything was allocated in a backward pass. */
    hasBackward: side.runs.some(({ stack }) => isBackward(side, stack)),
    /** The user's lines that checkpointing reruns in the backward pass. */
    recomputed: largestFirst(recomputed).map(([line]) => line),
  };
}

function factsOf({ filename, name }: SideFrame) {
  const optimizer = OPTIMIZER.exec(filename)?.[1]?.toLowerCase();
  const isKnown = optimizer !== undefined && !NO_OPTIMIZER.has(optimizer);
  return {
    features: FEATURE_NAMES.filter((feature) => FEATURES[feature].files.test(filename)),
    optimizer: isKnown ? (OPTIMIZER_LABELS[optimizer] ?? optimizer) : undefined,
    /** Reruns a forward pass in the backward pass. */
    recomputes: RECOMPUTES.test(name) && FEATURES.checkpointing.files.test(filename),
  };
}

/** No Python on the thread, or Python that autograd called. */
function isBackward({ frames, stacks, hasCpp }: RunProfile, stack: number): boolean {
  if (stack === 0) return !hasCpp;
  return stack > 0 && / \(backward pass\)$/.test(frames[stacks.frame[stack]].name);
}

/** Over the whole run; less is not worth mentioning. */
const NOTABLE_BYTES = 2 ** 20;

/**
 * Lines that allocate in the user's functions that only one side has. A function's lines may change places: that is not
 * new code.
 */
export function oneSidedFunctions(a: RunProfile, b: RunProfile, { toA }: FrameAlignment) {
  const known = new Set(toA);
  return {
    a: linesWithout(a, (frame) => known.has(frame)),
    b: linesWithout(b, (frame) => toA[frame] >= 0),
  };
}

function linesWithout(side: RunProfile, isMatched: (frame: number) => boolean): SideFrame[] {
  const idOf = ({ filename, name }: SideFrame) => `${filename} ${name}`;
  const matched = new Set(side.frames.filter((_, frame) => isMatched(frame)).map(idOf));
  const sums = new Map<SideFrame, number>();
  for (const { stack, totalBytes } of side.runs) {
    const frames = Array.from(framesOf(side, stack), (frame) => side.frames[frame]);
    const own = frames.find(({ kind }) => kind === 'user');
    if (own === undefined || own.name === '<module>' || matched.has(idOf(own))) continue;
    addUp(sums, own, totalBytes);
  }
  return largestFirst(sums).flatMap(([frame, bytes]) => (bytes >= NOTABLE_BYTES ? frame : []));
}

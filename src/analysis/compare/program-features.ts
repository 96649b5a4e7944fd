/**
 * What a program runs, judged by the files in its call stacks: a wrapper, a compiler, an optimizer. If only one side
 * has one, that is a cause with a name.
 */
import { lineOf, type RunProfile, type SideFrame } from './run-profile.ts';

export const FEATURES = {
  checkpointing: {
    files:
      /(^|[\\/])(torch[\\/]utils[\\/]checkpoint\.py|.*activation_checkpointing[\\/]|.*checkpoint_wrapper\.py)/,
    says: 'checkpoints activations',
  },
  compiling: {
    files:
      /(^|[\\/])(torchinductor_[^\\/]*[\\/]|torch[\\/]_inductor[\\/]|\.?triton[\\/]cache[\\/])/,
    says: 'runs compiled code (torch.compile)',
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
} as const satisfies Readonly<Record<string, { files: RegExp; says: string }>>;
export type Feature = keyof typeof FEATURES;

const FEATURE_NAMES = Object.keys(FEATURES) as Feature[];

const OPTIMIZER =
  /(?:^|[\\/])(?:torch[\\/]optim|bitsandbytes[\\/]optim|apex[\\/]optimizers|transformers[\\/]optimization)[\\/]?_?([a-z0-9]+)\w*\.py$/i;
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

export interface Program {
  readonly features: ReadonlySet<Feature>;
  /** 'Adam'; undefined if no optimizer allocated anything. */
  readonly optimizer: string | undefined;
  /** Whether anything was allocated in a backward pass. */
  readonly hasBackward: boolean;
  /** The user's lines that checkpointing reruns in the backward pass. */
  readonly recomputed: readonly SideFrame[];
}

export function programOf(side: RunProfile): Program {
  const facts = side.frames.map(factsOf);
  const features = new Set<Feature>();
  const optimizers = new Map<string, number>();
  const recomputed = new Map<SideFrame, number>();
  let hasBackward = false;
  for (const { stack, totalBytes } of side.runs) {
    if (isBackward(side, stack)) hasBackward = true;
    let optimizer: string | undefined;
    let recomputes = false;
    for (let row = stack; row > 0; row = side.stacks.parent[row]) {
      const own = facts[side.stacks.frame[row]];
      for (const feature of own.features) features.add(feature);
      optimizer ??= own.optimizer;
      recomputes ||= own.recomputes;
    }
    if (optimizer !== undefined) add(optimizers, optimizer, totalBytes);
    const line = recomputes ? lineOf(side, stack) : undefined;
    if (line !== undefined) add(recomputed, line, totalBytes);
  }
  const largestFirst = <T>(sums: ReadonlyMap<T, number>): T[] =>
    [...sums].sort(([, x], [, y]) => y - x).map(([one]) => one);
  return {
    features,
    optimizer: largestFirst(optimizers)[0],
    hasBackward,
    recomputed: largestFirst(recomputed),
  };
}

interface FrameFacts {
  readonly features: readonly Feature[];
  readonly optimizer: string | undefined;
  /** Reruns a forward pass in the backward pass. */
  readonly recomputes: boolean;
}

function factsOf({ filename, name }: SideFrame): FrameFacts {
  const optimizer = OPTIMIZER.exec(filename)?.[1]?.toLowerCase();
  const isKnown = optimizer !== undefined && !NO_OPTIMIZER.has(optimizer);
  return {
    features: FEATURE_NAMES.filter((feature) => FEATURES[feature].files.test(filename)),
    optimizer: isKnown ? (OPTIMIZER_LABELS[optimizer] ?? optimizer) : undefined,
    recomputes: RECOMPUTES.test(name) && FEATURES.checkpointing.files.test(filename),
  };
}

const add = <T>(sums: Map<T, number>, key: T, bytes: number): unknown =>
  sums.set(key, (sums.get(key) ?? 0) + bytes);

/** No Python on the thread, or Python that autograd called. */
function isBackward({ frames, stacks, hasCpp }: RunProfile, stack: number): boolean {
  if (stack === 0) return !hasCpp;
  return stack > 0 && / \(backward pass\)$/.test(frames[stacks.frame[stack]].name);
}

/**
 * Ways to record a snapshot. Each is a file in code/ that was run on a GPU as is. Sources of the frameworks' options:
 * axolotl src/axolotl/utils/callbacks/profiler.py (#2182); verl verl/utils/profiler/config.py (#7770); SGLang managers'
 * start_profile and srt/environ.py (#25026); Megatron-Bridge docs/training/profiling.md (#3487); torchtitan #3628 (461
 * s a dump with C++ stacks, 4 s without); PyTorch torch/cuda/memory.py (skip_actions, augment_with_fx_traces,
 * record_pinned_host_memory #182407).
 */

export interface Recipe {
  readonly name: string;
  readonly code: string;
  readonly about: string;
  /** The versions it was run with; undefined: it was never run. */
  readonly triedWith?: string;
}

const CODE = import.meta.glob<string>('./code/*', {
  query: '?raw',
  import: 'default',
  eager: true,
});

function codeOf(file: string): string {
  const code = CODE[`./code/${file}`];
  if (code === undefined) throw new Error(`No recipe ${file}`);
  return code;
}

const PYTORCH = 'PyTorch 2.11';

export const RECIPES: readonly Recipe[] = [
  {
    name: 'A whole run',
    code: codeOf('whole-run.py'),
    about: 'Start before you build the model: earlier allocations show without their line of code.',
    triedWith: PYTORCH,
  },
  {
    name: 'With the vramscope package',
    code: codeOf('package.py'),
    about:
      'Records from PyTorch 2.1 on, one file per rank, and also writes the file when the program fails.',
    triedWith: PYTORCH,
  },
  {
    name: 'When memory runs out',
    code: codeOf('on-oom.py'),
    about: 'PyTorch calls the observer when memory runs out, before it raises the error.',
    triedWith: PYTORCH,
  },
  {
    name: 'An OOM that you catch',
    code: codeOf('caught-oom.py'),
    about: 'For programs that catch the error and continue with a smaller batch.',
    triedWith: PYTORCH,
  },
  {
    name: 'A few steps',
    code: codeOf('some-steps.py'),
    about: 'For long runs: a small file that still shows what each step leaves behind.',
    triedWith: PYTORCH,
  },
  {
    name: 'A file every 100 steps',
    code: codeOf('periodic.py'),
    about: 'For problems that take hours to appear: compare an early file with a late one.',
    triedWith: PYTORCH,
  },
  {
    name: 'A long run in one file',
    code: codeOf('long-run.py'),
    about: 'Records fewer events over the same time.',
    triedWith: PYTORCH,
  },
  {
    name: 'With annotations',
    code: codeOf('with-phases.py'),
    about:
      'record_function names the parts of a step: see whether forward, backward or optimizer peaks.',
    triedWith: PYTORCH,
  },
  {
    name: 'With the names of your tensors',
    code: codeOf('labels.py'),
    about:
      'Labels parameters, gradients, optimizer state, and saved activations. A label takes microseconds and no GPU memory.',
    triedWith: PYTORCH,
  },
  {
    name: 'torchrun, all ranks',
    code: codeOf('torchrun.py'),
    about: 'One file per rank, with the rank in its name.',
    triedWith: PYTORCH,
  },
  {
    name: 'torch.compile, with your lines',
    code: codeOf('compiled.py'),
    about:
      'Frames of generated code also name the line of your model. Inductor’s kernels have no such line, so this runs the same graph without Inductor.',
  },
  {
    name: 'Pinned host memory',
    code: codeOf('pinned-memory.py'),
    about: 'PyTorch 2.14 and later: the file has a host device next to the GPUs.',
  },
  {
    name: 'C++ stacks',
    code: codeOf('cpp-stacks.py'),
    about:
      'Useful when memory is allocated without a Python stack: in backward, extensions or NCCL.',
    triedWith: PYTORCH,
  },
  {
    name: 'Lightning',
    code: codeOf('lightning.py'),
    about: 'Writes a snapshot at the end, and when training fails.',
    triedWith: `Lightning 2.6, ${PYTORCH}`,
  },
  {
    name: 'Transformers Trainer',
    code: codeOf('transformers.py'),
    about: 'Writes a snapshot after step 20. TRL’s trainers take the same callback.',
    triedWith: `Transformers 5.17, ${PYTORCH}`,
  },
  {
    name: 'torchtitan',
    code: codeOf('torchtitan.sh'),
    about: 'Records a snapshot when its configuration enables it.',
  },
  {
    name: 'axolotl',
    code: codeOf('axolotl.sh'),
    about: 'Its profiler also writes a snapshot.',
  },
  {
    name: 'verl',
    code: codeOf('verl.sh'),
    about: 'Records the actor’s training steps on all ranks.',
  },
  {
    name: 'Megatron-Bridge',
    code: codeOf('megatron-bridge.py'),
    about: 'One file for each rank you list.',
  },
  {
    name: 'vLLM',
    code: codeOf('vllm.py'),
    about: 'The engine must run in the process that records.',
  },
  {
    name: 'SGLang',
    code: codeOf('sglang.sh'),
    about: 'The server records between a start and a stop request.',
  },
];

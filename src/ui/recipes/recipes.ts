/**
 * Ways to record a snapshot. Each is a file of code/, which scripts/try-recipes.py runs on a GPU.
 *
 * Where the options of the frameworks are from: axolotl src/axolotl/utils/callbacks/profiler.py (#2182);
 * verl verl/utils/profiler/config.py (#7770); SGLang managers' start_profile and srt/environ.py (#25026);
 * Megatron-Bridge docs/training/profiling.md (#3487); torchtitan #3628 (461 s a dump with C++ stacks, 4 s
 * without); PyTorch torch/cuda/memory.py (skip_actions, augment_with_fx_traces, record_pinned_host_memory #182407).
 */
import axolotl from './code/axolotl.sh?raw';
import caughtOom from './code/caught-oom.py?raw';
import compiled from './code/compiled.py?raw';
import cppStacks from './code/cpp-stacks.py?raw';
import lightning from './code/lightning.py?raw';
import longRun from './code/long-run.py?raw';
import megatronBridge from './code/megatron-bridge.py?raw';
import onOom from './code/on-oom.py?raw';
import periodic from './code/periodic.py?raw';
import pinnedMemory from './code/pinned-memory.py?raw';
import sglang from './code/sglang.sh?raw';
import someSteps from './code/some-steps.py?raw';
import torchrun from './code/torchrun.py?raw';
import torchtitan from './code/torchtitan.sh?raw';
import transformers from './code/transformers.py?raw';
import verl from './code/verl.sh?raw';
import vllm from './code/vllm.py?raw';
import wholeRun from './code/whole-run.py?raw';
import withPhases from './code/with-phases.py?raw';

export interface Recipe {
  readonly name: string;
  readonly code: string;
  readonly about: string;
  /** With what it was run; undefined: not at all, what it needs was not at hand. */
  readonly triedWith: string | undefined;
}

const PYTORCH = 'PyTorch 2.11';

export const RECIPES: readonly Recipe[] = [
  {
    name: 'A whole run',
    code: wholeRun,
    about: 'Start before the model is made: what was allocated earlier shows without its line.',
    triedWith: PYTORCH,
  },
  {
    name: 'When memory runs out',
    code: onOom,
    about: 'The allocator calls the observer at the OOM, before the error is raised.',
    triedWith: PYTORCH,
  },
  {
    name: 'An OOM that you catch',
    code: caughtOom,
    about: 'For programs that go on with a smaller batch.',
    triedWith: PYTORCH,
  },
  {
    name: 'A few steps',
    code: someSteps,
    about: 'For long runs: a small file, enough to see what a step leaves behind.',
    triedWith: PYTORCH,
  },
  {
    name: 'A file every 100 steps',
    code: periodic,
    about: 'For what goes wrong after hours: compare an early file with a late one.',
    triedWith: PYTORCH,
  },
  {
    name: 'A long run in one file',
    code: longRun,
    about: 'Fewer events for the same history.',
    triedWith: PYTORCH,
  },
  {
    name: 'With phases',
    code: withPhases,
    about: 'record_function ranges are kept: which of forward, backward and optimizer peaks.',
    triedWith: PYTORCH,
  },
  {
    name: 'torchrun, all ranks',
    code: torchrun,
    about: 'One file a rank, the rank in its name.',
    triedWith: PYTORCH,
  },
  {
    name: 'torch.compile, with your lines',
    code: compiled,
    about:
      'Frames of generated code also name the line of your model. Inductor’s kernels have none: this runs the same graph without it.',
    triedWith: undefined,
  },
  {
    name: 'Pinned host memory',
    code: pinnedMemory,
    about: 'From PyTorch 2.14 on: the file has a host device beside the GPUs.',
    triedWith: undefined,
  },
  {
    name: 'C++ stacks',
    code: cppStacks,
    about:
      'Worth it when much is allocated where there is no Python line: in backward, in extensions, in NCCL.',
    triedWith: PYTORCH,
  },
  {
    name: 'Lightning',
    code: lightning,
    about: 'Dumps at the end and when training fails.',
    triedWith: `Lightning 2.6, ${PYTORCH}`,
  },
  {
    name: 'Transformers Trainer',
    code: transformers,
    about: 'Dumps after step 20. TRL’s trainers take the same callback.',
    triedWith: `Transformers 5.17, ${PYTORCH}`,
  },
  {
    name: 'torchtitan',
    code: torchtitan,
    about: 'It records by itself when its configuration says so.',
    triedWith: undefined,
  },
  {
    name: 'axolotl',
    code: axolotl,
    about: 'Its profiler also dumps a snapshot.',
    triedWith: undefined,
  },
  {
    name: 'verl',
    code: verl,
    about: 'The memory of the actor’s training steps, all ranks.',
    triedWith: undefined,
  },
  {
    name: 'Megatron-Bridge',
    code: megatronBridge,
    about: 'One file for each rank that is listed.',
    triedWith: undefined,
  },
  {
    name: 'vLLM',
    code: vllm,
    about: 'The engine must run in the process that records.',
    triedWith: undefined,
  },
  {
    name: 'SGLang',
    code: sglang,
    about: 'The server records between two requests to it.',
    triedWith: undefined,
  },
];

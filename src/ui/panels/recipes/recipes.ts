/**
 * Ways to record a snapshot. Each is a file of code/, and was run on a GPU as it stands there.
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
import labels from './code/labels.py?raw';
import lightning from './code/lightning.py?raw';
import longRun from './code/long-run.py?raw';
import megatronBridge from './code/megatron-bridge.py?raw';
import onOom from './code/on-oom.py?raw';
import vramscopePackage from './code/package.py?raw';
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
    about: 'Start before you build the model: earlier allocations show without their line of code.',
    triedWith: PYTORCH,
  },
  {
    name: 'With the vramscope package',
    code: vramscopePackage,
    about:
      'Records from PyTorch 2.1 on, one file per rank, and also writes the file when the program fails.',
    triedWith: PYTORCH,
  },
  {
    name: 'When memory runs out',
    code: onOom,
    about: 'PyTorch calls the observer when memory runs out, before it raises the error.',
    triedWith: PYTORCH,
  },
  {
    name: 'An OOM that you catch',
    code: caughtOom,
    about: 'For programs that catch the error and continue with a smaller batch.',
    triedWith: PYTORCH,
  },
  {
    name: 'A few steps',
    code: someSteps,
    about: 'For long runs: a small file that still shows what each step leaves behind.',
    triedWith: PYTORCH,
  },
  {
    name: 'A file every 100 steps',
    code: periodic,
    about: 'For problems that take hours to appear: compare an early file with a late one.',
    triedWith: PYTORCH,
  },
  {
    name: 'A long run in one file',
    code: longRun,
    about: 'Records fewer events over the same time.',
    triedWith: PYTORCH,
  },
  {
    name: 'With annotations',
    code: withPhases,
    about:
      'record_function names the parts of a step: see whether forward, backward or optimizer peaks.',
    triedWith: PYTORCH,
  },
  {
    name: 'With the names of your tensors',
    code: labels,
    about:
      'Labels parameters, gradients, optimizer state, and saved activations. A label takes microseconds and no GPU memory.',
    triedWith: PYTORCH,
  },
  {
    name: 'torchrun, all ranks',
    code: torchrun,
    about: 'One file per rank, with the rank in its name.',
    triedWith: PYTORCH,
  },
  {
    name: 'torch.compile, with your lines',
    code: compiled,
    about:
      'Frames of generated code also name the line of your model. Inductor’s kernels have no such line, so this runs the same graph without Inductor.',
    triedWith: undefined,
  },
  {
    name: 'Pinned host memory',
    code: pinnedMemory,
    about: 'PyTorch 2.14 and later: the file has a host device next to the GPUs.',
    triedWith: undefined,
  },
  {
    name: 'C++ stacks',
    code: cppStacks,
    about:
      'Useful when memory is allocated without a Python stack: in backward, extensions or NCCL.',
    triedWith: PYTORCH,
  },
  {
    name: 'Lightning',
    code: lightning,
    about: 'Writes a snapshot at the end, and when training fails.',
    triedWith: `Lightning 2.6, ${PYTORCH}`,
  },
  {
    name: 'Transformers Trainer',
    code: transformers,
    about: 'Writes a snapshot after step 20. TRL’s trainers take the same callback.',
    triedWith: `Transformers 5.17, ${PYTORCH}`,
  },
  {
    name: 'torchtitan',
    code: torchtitan,
    about: 'Records a snapshot when its configuration enables it.',
    triedWith: undefined,
  },
  {
    name: 'axolotl',
    code: axolotl,
    about: 'Its profiler also writes a snapshot.',
    triedWith: undefined,
  },
  {
    name: 'verl',
    code: verl,
    about: 'Records the actor’s training steps on all ranks.',
    triedWith: undefined,
  },
  {
    name: 'Megatron-Bridge',
    code: megatronBridge,
    about: 'One file for each rank you list.',
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
    about: 'The server records between a start and a stop request.',
    triedWith: undefined,
  },
];

/** Ways to record a snapshot. Each is a file of code/, which scripts/try-recipes.py runs on a GPU. */
import lightning from './code/lightning.py?raw';
import onOom from './code/on-oom.py?raw';
import someSteps from './code/some-steps.py?raw';
import torchtitan from './code/torchtitan.sh?raw';
import transformers from './code/transformers.py?raw';
import vllm from './code/vllm.py?raw';
import wholeRun from './code/whole-run.py?raw';
import withPhases from './code/with-phases.py?raw';

export interface Recipe {
  readonly name: string;
  readonly code: string;
  readonly about: string;
  /** With what it was run; undefined: not at all, the framework was not at hand. */
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
    name: 'A few steps',
    code: someSteps,
    about: 'For long runs: a small file, enough to see what a step leaves behind.',
    triedWith: PYTORCH,
  },
  {
    name: 'With phases',
    code: withPhases,
    about: 'record_function ranges are kept: which of forward, backward and optimizer peaks.',
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
    about: 'Dumps after step 20.',
    triedWith: `Transformers 5.17, ${PYTORCH}`,
  },
  {
    name: 'torchtitan',
    code: torchtitan,
    about: 'It records by itself when its configuration says so.',
    triedWith: undefined,
  },
  {
    name: 'vLLM',
    code: vllm,
    about: 'The engine must run in the process that records.',
    triedWith: undefined,
  },
];

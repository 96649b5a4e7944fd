/** What would lower a peak of this mix, by how much, and what that estimate assumes. */
import { formatBytes } from '../base/format.ts';
import type { ClassSum, MemoryClass } from './peak-classes.ts';
import type { Remedy, RemedyId } from './types.ts';

interface Idea {
  readonly id: RemedyId;
  readonly savedBytes: number;
  readonly text: (saved: string) => string;
}

/** Ordered by the bytes they save; those under a hundredth of the peak are left out. */
export function peakRemedies(classes: readonly ClassSum[], peakBytes: number): Remedy[] {
  const of = (name: MemoryClass): number => classes.find((c) => c.name === name)?.bytes ?? 0;
  const activations = of('activations');
  const optimizer = of('optimizer-state');
  const model = of('parameters') + of('gradients') + optimizer;
  const isTraining = of('gradients') > 0 || optimizer > 0;
  const ideas: Idea[] = [
    {
      id: 'batch-size',
      savedBytes: activations * 0.5,
      text: (saved) =>
        `Half the batch size, with gradient accumulation over two: saves about ${saved} (assumes that activations grow with the batch).`,
    },
    {
      id: 'checkpointing',
      savedBytes: isTraining ? activations * 0.6 : 0,
      text: (saved) =>
        `Activation checkpointing of each block: saves about ${saved} for a third more compute (assumes that block inputs are 40 % of what is kept).`,
    },
    {
      id: 'mixed-precision',
      savedBytes: activations * 0.4,
      text: (saved) =>
        `bf16 autocast: saves about ${saved} (assumes float32 now and that four fifths of the activations follow; nothing if it is on already, which a recording cannot tell).`,
    },
    {
      id: 'optimizer-8bit',
      savedBytes: optimizer * 0.75,
      text: (saved) => `An 8-bit optimizer: saves about ${saved} (assumes 32-bit state now).`,
    },
    {
      id: 'offload',
      savedBytes: optimizer,
      text: (saved) =>
        `Optimizer state on the CPU (offload): saves ${saved}, and costs transfers every step.`,
    },
    {
      id: 'sharding',
      savedBytes: isTraining ? model * 0.75 : 0,
      text: (saved) =>
        `FSDP or ZeRO-3 over four GPUs: saves about ${saved} on each (three quarters of parameters, gradients and optimizer state).`,
    },
  ];
  return ideas
    .filter(({ savedBytes }) => savedBytes >= peakBytes / 100)
    .sort((a, b) => b.savedBytes - a.savedBytes)
    .map(({ id, savedBytes, text }) => ({ id, savedBytes, text: text(formatBytes(savedBytes)) }));
}

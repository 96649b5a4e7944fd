import type { CounterName } from '../../core/replay/types.ts';

export interface CounterText {
  readonly name: CounterName;
  readonly label: string;
  /** One sentence, for a tooltip. */
  readonly about: string;
}

/** The five counters in PyTorch's words, widest known first. */
export const COUNTERS: readonly CounterText[] = [
  {
    name: 'allocatedBytes',
    label: 'Allocated',
    about: 'Blocks that tensors hold, as torch.cuda.memory_allocated() counts them.',
  },
  {
    name: 'activeBytes',
    label: 'Active',
    about: 'Allocated blocks, and freed ones that another stream may still use.',
  },
  {
    name: 'reservedBytes',
    label: 'Reserved',
    about: 'Segments that PyTorch holds of the device, in use or cached.',
  },
  {
    name: 'requestedBytes',
    label: 'Requested',
    about: 'Bytes that were asked for, before rounding up to whole blocks.',
  },
  {
    name: 'inactiveSplitBytes',
    label: 'Inactive split',
    about: 'Free pieces of segments that are partly in use: they cannot be given back.',
  },
];

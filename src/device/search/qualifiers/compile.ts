import { allocationsLabelled, labelsIn } from '../masks.ts';
import { type AllocationQualifier, quoteText } from '../qualifier.ts';

export interface CompileCondition {
  readonly kind: 'compile';
  /** Exactly that compile context; '' is none. */
  readonly context: string;
}

export const COMPILE: AllocationQualifier<CompileCondition> = {
  name: 'compile',
  help: 'a compile context',
  examples: ['compile:"Torch-Compiled Region: 0/0"'],
  parse: (context) => ({ kind: 'compile', context }),
  match(device, { context }) {
    const { compileContext } = device.trace.events;
    return {
      mask: allocationsLabelled(device, compileContext, context),
      note: compileContext === undefined ? 'No event has a compile context.' : undefined,
    };
  },
  values: (device) => labelsIn(device, device.trace.events.compileContext),
  suggest: (contexts) => contexts.map((context) => ({ term: compileTerm(context), hint: '' })),
};

/** '' finds allocations outside compiled regions. */
export function compileTerm(context: string): string {
  return `compile:${quoteText(context)}`;
}

/** When backward ran: stretches of allocations in backward threads. */
import { upperBound } from '../../base/binary-search.ts';
import { growableInt32 } from '../../base/growable.ts';
import type { EventIndex } from '../../snapshot/tables.ts';
import type { AnalysisContext } from '../analysis-context.ts';

export class BackwardPasses {
  /** First backward allocation of each pass, and the first other allocation after it. */
  readonly #begin: Int32Array;
  readonly #end: Int32Array;

  constructor({ classifier, input }: AnalysisContext) {
    const { stack, start, length, preexisting } = input.replay.allocations;
    const begin = growableInt32();
    const end = growableInt32();
    let inside = false;
    for (let id = preexisting; id < length; id++) {
      const isBackward = classifier.isBackward(stack[id]);
      if (isBackward === inside) continue;
      (isBackward ? begin : end).push(start[id]);
      inside = isBackward;
    }
    if (inside) end.push(input.trace.events.length);
    this.#begin = begin.finish();
    this.#end = end.finish();
  }

  get count(): number {
    return this.#begin.length;
  }

  /** First event of the next pass after an event; undefined when none follows. */
  nextBegin(event: EventIndex): EventIndex | undefined {
    return this.#begin[upperBound(this.#begin, event)];
  }

  /** Where the pass that holds the event, or else the next one, is over. */
  nextEnd(event: EventIndex): EventIndex | undefined {
    return this.#end[upperBound(this.#end, event)];
  }
}

/** One term: the allocations that its condition holds for, before its sign is applied. */
import { assertUnreachable } from '../base/assert.ts';
import type { DeviceContext } from '../device/device-context.ts';
import type { EventIndex } from '../snapshot/tables.ts';
import { answerForStacks, isStackCondition, type StackCondition } from './match-stacks.ts';
import { addressMask, allocationCalled, segmentMask, streamMask } from './place-masks.ts';
import { addLabelled, allocationsLabelled, allocationsOfStacks } from './text-masks.ts';
import type { Condition, SearchProblem } from './types.ts';
import { ageMask, hasTimes, phaseMask, poolMask, sizeMask, stateMask } from './value-masks.ts';

export interface TermAnswer {
  /** By AllocationIndex. */
  readonly mask: Uint8Array;
  /** By FrameIndex, what the term names. */
  readonly frames?: Uint8Array | undefined;
  /** What to tell the reader when the mask turns out to be empty. */
  readonly note?: string | undefined;
}

type Answer = TermAnswer | { readonly problem: SearchProblem };

/** `state`: the event after which states and ages are taken. */
export function answerCondition(
  context: DeviceContext,
  condition: Condition,
  state: EventIndex,
): Answer {
  if (isStackCondition(condition)) return answerByStack(context, condition);
  const { events } = context.trace;
  switch (condition.kind) {
    case 'address':
      return answerAddress(context, condition.addresses, condition.orText);
    case 'allocation':
      return answerAllocation(context, condition.label);
    case 'segment':
      return {
        mask: segmentMask(context, condition.address, condition.nth),
        note: 'No segment with allocations of this trace lay there.',
      };
    case 'size':
      return { mask: sizeMask(context, condition.comparison, condition.bytes) };
    case 'age':
      return {
        mask: ageMask(context, condition.comparison, condition.unit, condition.value, state),
        note: condition.unit === 'us' && !hasTimes(context) ? NO_TIMES : undefined,
      };
    case 'stream':
      return streamMask(context, condition.stream);
    case 'pool':
      return { mask: poolMask(context, condition.pool) };
    case 'state':
      return { mask: stateMask(context, condition.state, state) };
    case 'phase':
      return {
        mask: phaseMask(context, condition.name),
        note: noteOfPhase(context, condition.name),
      };
    case 'category':
      return {
        mask: allocationsLabelled(context, events.category, condition.name),
        note: events.category === undefined ? 'No event of this trace has a category.' : undefined,
      };
    case 'compile':
      return {
        mask: allocationsLabelled(context, events.compileContext, condition.context),
        note: events.compileContext === undefined ? 'No event has a compile context.' : undefined,
      };
    default:
      return assertUnreachable(condition);
  }
}

const NO_TIMES = 'The events of this trace have no times.';

function answerByStack(context: DeviceContext, condition: StackCondition): Answer {
  const answer = answerForStacks(context, condition);
  if ('problem' in answer) return answer;
  const mask = allocationsOfStacks(context, answer.stacks);
  if (answer.test !== undefined) addLabelled(context, mask, answer.test);
  return { mask, frames: answer.frames, note: noteOfStacks(context, condition) };
}

function noteOfStacks(context: DeviceContext, condition: StackCondition): string | undefined {
  if (condition.kind === 'site') return noteOfLabel(context, condition.label);
  return context.snapshot.frames.length === 0
    ? 'This snapshot was recorded without stacks.'
    : undefined;
}

function noteOfLabel(context: DeviceContext, label: string): string | undefined {
  return allocationCalled(context, label) < 0
    ? `This device has no allocation ${label}.`
    : undefined;
}

/** Hex without 0x may be a word too: a hash in a file's name. */
function answerAddress(
  context: DeviceContext,
  addresses: readonly bigint[],
  orText: string | undefined,
): Answer {
  const blocks = addressMask(context, addresses);
  const note = 'No block of this trace lay there.';
  if (orText === undefined) return { mask: blocks, note };
  const word = answerByStack(context, { kind: 'text', text: orText });
  if ('problem' in word) return word;
  for (let id = 0; id < blocks.length; id++) blocks[id] |= word.mask[id];
  return { mask: blocks, frames: word.frames, note };
}

function answerAllocation(context: DeviceContext, label: string): TermAnswer {
  const mask = new Uint8Array(context.replay.allocations.length);
  const allocation = allocationCalled(context, label);
  if (allocation >= 0) mask[allocation] = 1;
  return { mask, note: noteOfLabel(context, label) };
}

function noteOfPhase(context: DeviceContext, name: string): string | undefined {
  if (context.snapshot.annotations.length === 0) return 'This snapshot has no annotations.';
  if (!hasTimes(context)) return NO_TIMES;
  const isKnown = context.annotations().some((span) => span.name === name);
  return isKnown ? undefined : `This device has no annotation "${name}".`;
}

/**
 * What a call stack says of the code that allocates: each row of the stack tree gets one role, found
 * from its caller's row, so that millions of allocations cost one look-up each.
 */

import { EMPTY_STACK, NO_STACK } from '../../format/snapshot/tables.ts';
import type { StackReader, StackSource } from '../model/stacks.ts';
import { allFrameRoles, FrameRole } from './frame-roles.ts';

/** The code that an allocation or a free comes from. */
export const StackRole = {
  /** No stack, or C++ that says nothing. */
  Unknown: 0,
  Host: 1,
  Forward: 2,
  Backward: 3,
  Optimizer: 4,
} as const;
export type StackRole = (typeof StackRole)[keyof typeof StackRole];

/** More that a stack says; see {@link FrameRole}. */
export const StackHint = {
  Building: FrameRole.Building,
  Collective: FrameRole.Collective,
  Workspace: FrameRole.Workspace,
  Loader: FrameRole.Loader,
  Cache: FrameRole.Cache,
  Recompute: FrameRole.Recompute,
  StateInit: FrameRole.StateInit,
  Gathered: FrameRole.Gathered,
  Copied: FrameRole.Copied,
  Convolution: FrameRole.Convolution,
} as const;

export interface StackRoles {
  /** {@link StackRole}; row stack + 1, so that row 0 is "no stack". */
  readonly role: Uint8Array;
  /** Bits of {@link StackHint}; row stack + 1. */
  readonly hints: Uint32Array;
}

const F = FrameRole;
const FORWARD = F.ModuleCall | F.Functional;
/** What holds only until the user's code or a module is called: an optimizer runs closures, a loader collate functions. */
const SCOPED =
  F.Optimizer |
  F.StateInit |
  F.Collective |
  F.Loader |
  F.Cache |
  F.Gathered |
  F.Copied |
  F.Convolution;
const INHERITED = F.Python | FORWARD | SCOPED | F.Building | F.Autograd | F.Workspace | F.Recompute;

export function stackRoles(source: StackSource, reader: StackReader): StackRoles {
  const { length, frame, parent } = source.stacks;
  const isPython = (index: number) => reader.isPython(index);
  const frames = allFrameRoles(source, isPython);
  const hasEntries = frames.some((roles) => (roles & F.Entry) !== 0);
  const hasCpp = frames.some((roles) => (roles & F.Python) === 0);
  const bits = new Uint32Array(length);
  const role = new Uint8Array(length + 1);
  const hints = new Uint32Array(length + 1);
  role[EMPTY_STACK - NO_STACK] = StackRole.Backward;
  for (let row = 1; row < length; row++) {
    bits[row] = derive(bits[parent[row]], frames[frame[row]], hasEntries);
    role[row - NO_STACK] = roleOf(bits[row], hasCpp);
    hints[row - NO_STACK] = bits[row];
  }
  return { role, hints };
}

/** The bits of a row, from its caller's and its own frame's. Autograd stands for "in the backward pass". */
function derive(above: number, own: number, hasEntries: boolean): number {
  let bits = above & INHERITED;
  const isCode = (own & (F.User | F.ModuleCall)) !== 0;
  if (isCode) bits &= ~(SCOPED & ~own);
  // What a collective's own set-up makes is for it, but for the parameters that it takes over.
  if ((own & F.Building) !== 0) bits &= ~F.Collective;
  // A module that is called is no longer being built.
  if ((own & F.ModuleCall) !== 0) bits &= ~F.Building;
  const isFirstPython = (own & F.Python) !== 0 && (above & F.Python) === 0;
  const isCalledByEngine =
    isFirstPython && (own & F.Entry) === 0 && (hasEntries || (own & F.Autograd) !== 0);
  bits |= own & INHERITED & ~F.Autograd;
  // A reentrant checkpoint calls backward() on what it has run again: that is no recomputation.
  if ((own & F.Engine) !== 0 && (own & F.Python) !== 0) bits &= ~F.Recompute;
  if (isCalledByEngine || (own & F.Engine) !== 0) bits |= F.Autograd;
  const isConstructor = (own & F.Constructor) !== 0 && (bits & FORWARD) === 0;
  if (isConstructor) bits |= F.Building;
  return bits;
}

function roleOf(bits: number, hasCpp: boolean): StackRole {
  if ((bits & F.Autograd) !== 0) return StackRole.Backward;
  if ((bits & F.Python) === 0) return hasCpp ? StackRole.Unknown : StackRole.Backward;
  if ((bits & F.Optimizer) !== 0) return StackRole.Optimizer;
  return (bits & FORWARD) !== 0 ? StackRole.Forward : StackRole.Host;
}

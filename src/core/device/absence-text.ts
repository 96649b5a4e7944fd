import { assertUnreachable } from '../base/assert.ts';
import type { StackKind } from './types.ts';

/** Why there is no stack, in the same words everywhere: absences that mean different things. */
export function absenceText(kind: StackKind): string {
  switch (kind) {
    case 'recorded':
      return 'no frames';
    case 'no-python-stack':
      return 'no Python stack on that thread';
    case 'no-context':
      return 'no context recorded';
    case 'before-recording':
      return 'allocated before recording';
    default:
      return assertUnreachable(kind);
  }
}

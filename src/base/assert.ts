/** Marks a branch that the types say cannot be reached; used as the default of every switch. */
export function assertUnreachable(value: never): never {
  throw new Error(`Unexpected value: ${JSON.stringify(value)}`);
}

/** Throws a developer error when an invariant of our own code is broken. Not for checking user input. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`Invariant broken: ${message}`);
}

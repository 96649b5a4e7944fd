/** What classifies allocations, fetched when classes are first asked for: a session opens and draws files without it. */
import { assert } from '../base/assert.ts';

type Classes = typeof import('./classify.ts') & Pick<typeof import('./types.ts'), 'classLabels'>;

let classes: Classes | undefined;

/** To be awaited before {@link loadedClasses} is called. */
export async function loadClasses(): Promise<Classes> {
  if (classes === undefined) {
    const [found, { classLabels }] = await Promise.all([
      import('./classify.ts'),
      import('./types.ts'),
    ]);
    classes = { ...found, classLabels };
  }
  return classes;
}

/** For code that cannot wait. */
export function loadedClasses(): Classes {
  assert(classes !== undefined, 'loadClasses was awaited');
  return classes;
}

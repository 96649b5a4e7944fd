/** Ways to record a snapshot, from recipes.md. */
import markdown from './recipes.md?raw';

export interface Recipe {
  readonly name: string;
  readonly about: string;
  /** The versions it was run with; undefined: it was never run. */
  readonly triedWith: string | undefined;
  readonly code: string;
}

const SECTION = /^(.+)\n\n(.+)\n\n(?:Run with (.+)\.\n\n)?```\w+\n([\s\S]+)\n```/;

/** The part before the first section is for people who read the file itself. */
export const RECIPES: readonly Recipe[] = markdown
  .split(/^## /m)
  .slice(1)
  .map((section) => {
    const [, name = '', about = '', triedWith, code = ''] = SECTION.exec(section) ?? [];
    return { name, about, triedWith, code };
  });

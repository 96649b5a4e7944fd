import { allocationsLabelled, labelsIn } from '../masks.ts';
import { type AllocationQualifier, quoteText } from '../qualifier.ts';

export interface CategoryCondition {
  readonly kind: 'category';
  /** Exactly that category; '' is none. */
  readonly name: string;
}

export const CATEGORY: AllocationQualifier<CategoryCondition> = {
  name: 'category',
  help: 'a category',
  examples: ['category:activation'],
  parse: (name) => ({ kind: 'category', name }),
  match(context, { name }) {
    const { category } = context.trace.events;
    return {
      mask: allocationsLabelled(context, category, name),
      note: category === undefined ? 'No event of this trace has a category.' : undefined,
    };
  },
  values: (context) => labelsIn(context, context.trace.events.category),
  suggest: (names) => names.map((name) => ({ term: categoryTerm(name), hint: '' })),
};

/** '' finds allocations without a category. */
export function categoryTerm(name: string): string {
  return `category:${quoteText(name)}`;
}

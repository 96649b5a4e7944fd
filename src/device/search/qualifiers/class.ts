import { classify } from '../../classes/classify.ts';
import {
  classLabels,
  MEMORY_CLASS_ORDER,
  MEMORY_CLASSES,
  type MemoryClass,
  type MemoryClassId,
} from '../../classes/types.ts';
import { maskOf } from '../masks.ts';
import type { AllocationQualifier } from '../qualifier.ts';

export interface ClassCondition {
  readonly kind: 'class';
  readonly class: MemoryClass;
}

/** Words that are no beginning of a class's name. */
const OTHER_NAMES: Readonly<Record<string, MemoryClassId>> = {
  buffers: 'parameters',
  'kv-cache': 'growing-state',
};

export const CLASS: AllocationQualifier<ClassCondition> = {
  name: 'class',
  help: `${MEMORY_CLASSES.map(({ id }) => id).join(', ')}`,
  examples: ['class:gradients', 'class:optimizer'],
  parse(value) {
    const found = classNamed(value.toLowerCase());
    return found === undefined ? undefined : { kind: 'class', class: found };
  },
  match(context, condition) {
    const { classOf } = classify(context);
    return { mask: maskOf(classOf.length, (id) => classOf[id] === condition.class) };
  },
  suggest: () => classLabels().map(({ term, about }) => ({ term, hint: about })),
};

/** A class's name, or the beginning of one that no other has: 'optimizer', 'grad'. */
function classNamed(value: string): MemoryClass | undefined {
  const whole: string = OTHER_NAMES[value] ?? value;
  const begins = MEMORY_CLASS_ORDER.filter((of) => MEMORY_CLASSES[of].id.startsWith(whole));
  return whole !== '' && begins.length === 1 ? begins[0] : undefined;
}

import { MEMORY_CLASSES } from '../../../device/classes/types.ts';

/** 'optimizer state'; parts that are no class of memory by their own name. */
export const classLabel = (id: string): string =>
  MEMORY_CLASSES.find((known) => known.id === id)?.label ?? id.replaceAll('-', ' ');

/** A word or one of the four marks of PYTORCH_CUDA_ALLOC_CONF, and where it stands in the text. */
export interface ConfToken {
  readonly text: string;
  /** Characters [position, end). */
  readonly position: number;
  readonly end: number;
}

/** 'a:[1:2]' → 'a', ':', '[', '1', ':', '2', ']'. Blanks between tokens are skipped. */
export function tokenize(text: string): ConfToken[] {
  return Array.from(text.matchAll(/[,:[\]]|[^,:[\]\s]+/g), (match) => ({
    text: match[0],
    position: match.index,
    end: match.index + match[0].length,
  }));
}

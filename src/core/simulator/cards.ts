/** Memory of common cards, and what of it is left for PyTorch. */

const GIB = 2 ** 30;
/**
 * What a process takes of a card beside PyTorch's memory: CUDA context, kernels, cuBLAS and cuDNN. On an
 * H200 with CUDA 13 the OOM messages of our recordings say 0.5 to 0.65 GiB; NCCL takes more.
 */
export const CONTEXT_BYTES = 0.65 * GIB;

/** In GiB. */
export const COMMON_CARDS_GIB: readonly number[] = [
  4, 6, 8, 10, 11, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 141, 192,
];

/** What PyTorch may reserve on a card of so many GiB. */
export function limitOfCard(gib: number): number {
  return Math.floor(gib * GIB - CONTEXT_BYTES);
}

/** 16.2 GiB → 20: the smallest common card that has so much for PyTorch. */
export function cardFor(limitBytes: number): number | undefined {
  return COMMON_CARDS_GIB.find((gib) => limitOfCard(gib) >= limitBytes);
}

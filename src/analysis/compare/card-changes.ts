/** How two files differ outside the allocator, if both have a ledger. */
import { bytesOf, KINDS, kindLabel } from '../../device/model/card.ts';
import { signedBytes } from './change-text.ts';
import type { RunProfile } from './types.ts';

/** The rows of both cards by kind; empty unless both are known. They add up to the cards. */
export function cardChanges({ card: a }: RunProfile, { card: b }: RunProfile) {
  if (a === undefined || b === undefined) return [];
  const rows = [...a.rows, ...b.rows];
  return KINDS.filter((kind) => rows.some((row) => row.kind === kind)).map((kind) => {
    const [bytesA, bytesB] = [bytesOf(a.rows, kind), bytesOf(b.rows, kind)];
    const label = kindLabel(kind, rows);
    return { kind, label, bytesA, bytesB, differenceBytes: bytesB - bytesA };
  });
}

const OUTSIDE = new Set(['communicator', 'process-rest', 'others', 'outside']);
/** Of the card: less is not worth a sentence. */
const NOTABLE_SHARE = 0.02;

/** 'Outside PyTorch: +61.00 GiB of other processes.' */
export function cardTexts({ card }: RunProfile, changes: ReturnType<typeof cardChanges>): string[] {
  const least = NOTABLE_SHARE * (card?.totalBytes ?? 0);
  const texts = changes
    .filter(({ kind, differenceBytes }) => OUTSIDE.has(kind) && Math.abs(differenceBytes) >= least)
    .map(({ label, differenceBytes }) => `${signedBytes(differenceBytes)} of ${label}`);
  return texts.length === 0 ? [] : [`On the card: ${texts.join(', ')}.`];
}

/** Answers of the MCP tools: JSON that stays within a budget, and says how to get the rest. */
import { assert } from '../../core/base/assert.ts';

/** What a model reads without effort, and what an answer has unless it asks for more. */
export const DEFAULT_ANSWER_BYTES = 4000;
export const MAX_ANSWER_BYTES = 100_000;

export type Json = Readonly<Record<string, unknown>>;

export interface RowsWanted {
  /** Rows to leave out: the `next` of the answer before. */
  readonly offset: number;
  readonly maxBytes: number;
}

/**
 * `head` and as many rows as fit, at least one: a row too long for the budget alone would never be
 * had otherwise. `rows` are all of them; or, where `total` is given, those from `offset` on.
 *
 *   {"total": 40, "offset": 0, "rows": […12…], "next": 12}    then offset 12, until there is no next
 */
export function pageOf(
  head: Json,
  rows: readonly Json[],
  { offset, maxBytes }: RowsWanted,
  total?: number,
): Json {
  const all = total ?? rows.length;
  const shown: Json[] = [];
  // The keys around the rows, and a number of any size after "next".
  let bytes = byteLength({ ...head, total: all, offset, rows: [], next: all });
  for (const row of total === undefined ? rows.slice(offset) : rows) {
    bytes += byteLength(row) + 1;
    if (bytes > maxBytes && shown.length > 0) break;
    shown.push(row);
  }
  const next = offset + shown.length;
  return { ...head, total: all, offset, rows: shown, ...(next < all && { next }) };
}

/**
 * An answer without rows within the budget: from the last key on, lists become shorter until it fits,
 * and `shortened` names them.
 */
export function shortened(answer: Json, maxBytes: number): Json {
  let fitting: Record<string, unknown> = { ...answer };
  const cut: string[] = [];
  for (const key of Object.keys(answer).reverse()) {
    const list = fitting[key];
    if (byteLength(fitting) <= maxBytes) break;
    if (!Array.isArray(list) || list.length < 2) continue;
    cut.push(`${key}: ${list.length} in all`);
    let kept = list.length;
    while (kept > 1 && byteLength(fitting) > maxBytes) {
      kept = Math.floor(kept / 2);
      fitting = { ...fitting, [key]: list.slice(0, kept), shortened: cut };
    }
  }
  return fitting;
}

/** Numbers that are not known are null, as in every report. */
export function jsonOf(answer: Json): string {
  const text = JSON.stringify(answer, (_, value) => (Number.isNaN(value) ? null : value));
  assert(text !== undefined, 'an answer is an object');
  return text;
}

const byteLength = (value: Json): number => Buffer.byteLength(jsonOf(value));

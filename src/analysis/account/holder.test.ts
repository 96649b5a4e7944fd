/** Variable names in the account and the verdict, for a recording that has them. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { analysisOf } from '../../testing/analysed.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';

const TRUTH: Readonly<Record<string, number>> = JSON.parse(
  readFileSync('fixtures/record/holders.truth.json', 'utf8'),
);

describe('a recording with holders', () => {
  it('names the variable that holds the graphs, with what memory_allocated() gave back for it', async () => {
    const [context] = contextsOf(loadCapture('record/holders.pickle.gz'));
    const { verdict, accountAtEnd } = await analysisOf(context);
    expect(verdict.cause).toBe('kept-graph');
    expect(verdict.text).toContain(
      "held by the graph of `losses in main()['train']`, a deque of 4",
    );
    const held = accountAtEnd.entries.filter(({ holder }) => holder?.includes("['train']"));
    const bytes = held.reduce((sum, entry) => sum + entry.bytes, 0);
    expect(Math.abs(bytes / TRUTH["losses['train']"] - 1)).toBeLessThan(0.1);
  });

  it('names who holds most at the end if nothing is wrong: a cell failed, and its traceback keeps the graph', async () => {
    const [context] = contextsOf(loadCapture('record/notebook.pickle.gz'));
    const { verdict } = await analysisOf(context);
    expect(verdict.cause).toBe('none');
    expect(verdict.text).toBe(
      'No out-of-memory error, and no problem found, but 5.10 GiB of the 5.52 GiB in use at the end is held by the graph of `logits in evaluate()`, a Tensor (<ipython-input-4-64c1adc93c8e>:4), through the traceback of the last exception.',
    );
    expect(verdict.holder).toContain('`logits in evaluate()`');
  });

  it('names nobody if the file has no names', async () => {
    const [context] = contextsOf(loadCapture('leak_forward_hook.pickle.gz'));
    const { account } = await analysisOf(context);
    expect(account.entries.map(({ holder }) => holder)).toEqual(
      account.entries.map(() => undefined),
    );
  });
});

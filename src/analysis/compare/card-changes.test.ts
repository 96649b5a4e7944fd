/** Two ranks on one card, recorded on an H200: each is the other's other process. */
import { expect, it } from 'vitest';
import { sumBy } from '../../base/collections.ts';
import type { FileInfo } from '../../format/snapshot/tables.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { gib, sampleOf, withLedger } from '../../testing/with-ledger.ts';
import { buildProfile } from './build-profile.ts';
import { compareSides } from './compare.ts';

const FILE: FileInfo = {
  name: 'x.pickle',
  bytes: 1,
  container: 'pickle',
  protocol: 4,
  decoder: 'columnar',
  partial: undefined,
};

const profileOf = (snapshot: ReturnType<typeof loadCapture>) =>
  buildProfile(contextsOf(snapshot)[0], { file: FILE, deviceIndex: 0, at: 'end' });

it('adds up to the cards, row by row', () => {
  const [a, b] = [0, 1].map((rank) =>
    profileOf(loadCapture(`record/ledger/ranks-rank${rank}.pickle.gz`)),
  );
  const { card } = compareSides(a, b);
  expect(sumBy(card, ({ bytesA }) => bytesA)).toBe(a.card?.totalBytes);
  expect(sumBy(card, ({ bytesB }) => bytesB)).toBe(b.card?.totalBytes);
  expect(sumBy(card, ({ differenceBytes }) => differenceBytes)).toBe(0);
  expect(card.map(({ kind }) => kind)).toContain('others');
});

it('says who has more of the card, and nothing without both ledgers', () => {
  const bare = loadCapture('train_resnet.pickle.gz');
  const of = (others: number) =>
    profileOf(
      withLedger(bare, [
        sampleOf({
          ...{ freeBytes: gib(69 - others), processBytes: gib(11), moment: 'dump' },
          others: [{ pid: 577, bytes: gib(others) }],
        }),
      ]),
    );
  expect(compareSides(of(0), of(61)).verdict).toContain(
    'On the card: +61.00 GiB of other processes.',
  );
  expect(compareSides(of(5), of(5)).verdict).not.toContain('On the card');
  expect(compareSides(profileOf(bare), of(61)).card).toEqual([]);
});

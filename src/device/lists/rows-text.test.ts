import { describe, expect, it } from 'vitest';
import { contextsOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { EventReader } from './event-reader.ts';
import { eventsCsv } from './rows-text.ts';

const fileOf = (text: string, events: readonly number[]): readonly string[] => {
  const reader = new EventReader(contextsOf(snapshotFromText(text).snapshot)[0]);
  const { length } = events;
  return [...eventsCsv(reader, { length, slice: (from, to) => events.slice(from, to) })];
};
const csvOf = (text: string, events: readonly number[]): string =>
  fileOf(text, events).slice(1).join('');

describe('CSV', () => {
  it('has a field for every heading, in raw numbers', () => {
    const csv = csvOf('+seg 2Mi small @0x1000000\n+A 700 @train.py:10 forward\n-A', [1]);
    expect(csv).toBe('1,alloc,10,b1000000_0,700,0,small,,1024,2097152,2,forward,train.py,10\r\n');
    const [heading] = fileOf('+A 700', []);
    expect(csv.split(',')).toHaveLength(heading?.split(',').length ?? 0);
  });

  it('is complete and in order, whatever the pieces', () => {
    const events = Array.from({ length: 12_345 }, (_, i) => i % 3);
    const pieces = fileOf('+seg 2Mi small @0x1000000\n+A 700\n-A', events);
    expect(pieces.length).toBeGreaterThan(2);
    const lines = pieces.join('').trimEnd().split('\r\n').slice(1);
    expect(lines.map((line) => Number(line.split(',')[0]))).toEqual(events);
  });

  it('omits what is missing', () => {
    const csv = csvOf('oom 4Ki free=1', [0]);
    expect(csv).toBe('0,oom,0,,4096,0,,,0,0,,,,\r\n');
  });

  it('quotes line breaks, and disarms formulas', () => {
    const csv = csvOf('+A 512 @a,"b.py:1 +cmd()', [1]);
    expect(csv).toContain(`,'+cmd(),"a,""b.py",1\r\n`);
  });
});

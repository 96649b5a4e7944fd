import { describe, expect, it } from 'vitest';
import { contextsOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { EventReader } from './event-reader.ts';
import { CSV_HEADER, eventsCsv } from './rows-text.ts';

const csvOf = (text: string, events: readonly number[]): string =>
  eventsCsv(new EventReader(contextsOf(snapshotFromText(text).snapshot)[0]).rows(events));

describe('CSV', () => {
  it('has a field for every heading, in raw numbers', () => {
    const csv = csvOf('+seg 2Mi small @0x1000000\n+A 700 @train.py:10 forward\n-A', [1]);
    expect(csv).toBe('1,alloc,10,b1000000_0,700,0,small,,1024,2097152,2,forward,train.py,10\r\n');
    expect(csv.split(',')).toHaveLength(CSV_HEADER.split(',').length);
  });

  it('leaves out what is not there', () => {
    const csv = csvOf('oom 4Ki free=1', [0]);
    expect(csv).toBe('0,oom,0,,4096,0,,,0,0,,,,\r\n');
  });

  it('quotes what would break a line, and disarms formulas', () => {
    const csv = csvOf('+A 512 @a,"b.py:1 +cmd()', [1]);
    expect(csv).toContain(`,'+cmd(),"a,""b.py",1\r\n`);
  });
});

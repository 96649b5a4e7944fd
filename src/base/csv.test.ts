import { expect, it } from 'vitest';
import { csvField } from './csv.ts';

it('treats a field as a number only if all of it is one', () => {
  for (const number of ['-5', '+7', '-0.25', '-1e9', '12']) expect(csvField(number)).toBe(number);
  expect(csvField("-2+3+cmd|' /C calc'!A0")).toBe("'-2+3+cmd|' /C calc'!A0");
  expect(csvField('-1e9x')).toBe("'-1e9x");
  expect(csvField('\uff1dcmd()')).toBe("'\uff1dcmd()");
});

it('finds the start of a cell after spaces and after every separator', () => {
  for (const blank of [' ', '\u00a0', '\u3000', '\u200b', '\ufeff ']) {
    expect(csvField(`${blank}=cmd()`)).toBe(`'${blank}=cmd()`);
  }
  for (const separator of [';', '\t', '\r\n', ';;', '; ']) {
    expect(csvField(`a${separator}=cmd()`)).toMatch(/^"a[;\t\r\n]+' ?=cmd\(\)"$/);
  }
  expect(csvField('\t=cmd()')).toBe('"\t\'=cmd()"');
  // A name of a million spaces takes no longer than its length warrants.
  expect(csvField(';\t '.repeat(300_000)).length).toBe(900_002);
});

it('quotes characters that would end the field', () => {
  expect(csvField('a,b')).toBe('"a,b"');
  expect(csvField('=a"\r\n')).toBe('"\'=a""\r\n"');
});

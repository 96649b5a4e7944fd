import { expect, test } from 'vitest';
import { jsonText } from '../../base/unprintable.ts';
import { inline, printable } from './text.ts';

test('Markdown: no name becomes a mention or a link', () => {
  const name =
    '@octocat fixes #1, GH-12, octo/repo#3 at https://evil.example, www.evil.example, a@b.example';
  const text = inline(name);
  for (const linked of [/@\w/, /#\d/, /GH-\d/, /:\/\//, /www\./]) expect(text).not.toMatch(linked);
  // Visible text stays unchanged.
  expect(text.replaceAll('<!-- -->', '').replaceAll('\\', '')).toBe(name);
  expect(inline('&#64;octocat')).toBe('\\&\\#<!-- -->64;octocat');
});

test('invisible characters appear as question marks, and are escaped in JSON', () => {
  const tag = String.fromCodePoint(0xe0041);
  for (const hidden of ['\u202e', '\u200b', '\u00ad', '\ufe0f', '\u2066', tag]) {
    expect(printable(`a${hidden}b`)).toBe('a?b');
    const json = jsonText({ name: `a${hidden}b` });
    expect(json).toMatch(/^[ -~\n]*$/);
    expect(JSON.parse(json)).toEqual({ name: `a${hidden}b` });
  }
});

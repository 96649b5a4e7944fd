/** Makes tables for the docs and inserts them. */

/**
 * Puts `content` between <!-- name:start --> and <!-- name:end --> of a Markdown text.
 * @param {string} text @param {string} name @param {string} content
 * @throws when the text lacks the markers
 */
export function replaceBetween(text, name, content) {
  const start = `<!-- ${name}:start -->`;
  const end = `<!-- ${name}:end -->`;
  const from = text.indexOf(start);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`No ${start} … ${end} in the text`);
  return `${text.slice(0, from + start.length)}\n${content}\n${text.slice(to)}`;
}

/** @param {readonly string[]} head @param {readonly (readonly (string | number)[])[]} rows */
export function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

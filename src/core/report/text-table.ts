import { highest } from '../base/extremes.ts';

/** Lines of a table whose first column is text and whose others are figures. All rows are of one length. */
export function textTable(rows: readonly (readonly string[])[]): string[] {
  const [header = []] = rows;
  const widths = header.map((_, column) => highest(rows.map((row) => row[column].length)));
  return rows.map((row) =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])))
      .join('  ')
      .trimEnd(),
  );
}

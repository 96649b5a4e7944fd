/** Plain text for terminals: wrapping, alignment, optional color, and the order of devices. */
import { highest } from '../../base/extremes.ts';
import { UNPRINTABLE } from '../../base/unprintable.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { isUnusedDevice, mainDeviceIndex } from '../../device/model/main-device.ts';

export interface TextOptions {
  readonly columns: number;
  readonly color: boolean;
}

/** ANSI SGR codes. */
const STYLES = { plain: 0, bold: 1, dim: 2, red: 31, yellow: 33 } as const;

export function styled(text: string, style: keyof typeof STYLES, { color }: TextOptions): string {
  return color && style !== 'plain' ? `\u001b[${STYLES[style]}m${text}\u001b[0m` : text;
}

/** Lines of at most `columns`, later ones indented. A longer word gets its own line. */
export function wrap(text: string, columns: number, indent = ''): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = `${indent}${word}`;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

/** Use for names and settings: they come from the file, where anyone may have written anything. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, '?');
}

/**
 * What GitHub turns into a mention or link even when escaped: @name, #1, GH-1, a URL. An empty HTML comment inside
 * prevents it.
 */
const LINKING = /@(?=[\w-])|#(?=\d)|\bGH-(?=\d)|:(?=\/\/)|\bwww(?=\.)/gi;

/** Escapes text from the file so that it cannot become markup, HTML, mentions or links. */
export const inline = (text: string): string =>
  printable(text)
    .replace(/[\\`*_[\]<>#|@&~]/g, '\\$&')
    .replace(LINKING, '$&<!-- -->');

const markdownRow = (cells: readonly string[]): string => `| ${cells.map(inline).join(' | ')} |`;

/**
 * The last check of a whole text before a terminal. Like {@link printable}, but keeps line breaks, and {@link
 * styled}'s styles if there is color.
 */
export function terminalText(text: string, color: boolean): string {
  return text.replace(UNPRINTABLE, (letter, at: number) => {
    if (letter === '\n' || letter === '\t') return letter;
    const isStyle = color && /^\[(0|1|2|31|33)m/.test(text.slice(at + 1, at + 5));
    return letter === '\u001b' && isStyle ? letter : '?';
  });
}

/** Aligns a table: text in the first column, figures in the others. All rows must have equal length. */
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

type Rows = readonly (readonly string[])[];

/** How the parts of a report are written. Texts come as they are in the file. */
export interface Writer {
  heading(text: string): string[];
  /** The report's answer. */
  verdict(text: string): string[];
  /** A title and what belongs to it; nothing without lines. */
  section(title: string, lines: readonly string[], style?: keyof typeof STYLES): string[];
  paragraph(text: string): string[];
  list(texts: readonly string[]): string[];
  /** Lines as they are: a stack. */
  code(lines: readonly string[]): string[];
  /** Text in the first column, figures in the others. The first row is the header; nothing without other rows. */
  table(rows: Rows, rest?: string): string[];
  /** Writes what belongs to a section: terminals indent it. */
  readonly inner: Writer;
}

/** Stacks are longer in other forms of the report. */
const MAX_CODE_LINES = 6;

/** @param indent of all lines but titles */
export function terminalWriter(options: TextOptions, indent = ''): Writer {
  const wrapped = (text: string, hanging = '') =>
    wrap(printable(text), options.columns - indent.length, hanging).map((line) => indent + line);
  return {
    heading: (text) => [styled(printable(text), 'bold', options)],
    verdict: (text) => ['', ...wrapped(text)],
    section: (title, lines, style = 'bold') =>
      lines.length === 0 ? [] : ['', styled(printable(title), style, options), ...lines],
    paragraph: (text) => wrapped(text),
    list: (texts) => texts.flatMap((text) => wrapped(`- ${text}`, '  ')),
    code: (lines) => lines.slice(0, MAX_CODE_LINES).map((line) => `${indent}at ${printable(line)}`),
    table: (rows, rest = '') =>
      rows.length < 2
        ? []
        : [...textTable(rows), ...(rest === '' ? [] : [rest])].map((line, i) =>
            styled(`${indent}${printable(line)}`, i === 0 ? 'dim' : 'plain', options),
          ),
    get inner() {
      return terminalWriter(options, `${indent}    `);
    },
  };
}

export const MARKDOWN: Writer = {
  heading: (text) => [`## ${inline(text)}`],
  verdict: (text) => ['', `**${inline(text)}**`],
  section: (title, lines) =>
    lines.length === 0
      ? []
      : ['', `### ${inline(title)}`, ...(lines[0] === '' ? [] : ['']), ...lines],
  paragraph: (text) => ['', inline(text)],
  list: (texts) => (texts.length === 0 ? [] : ['', ...texts.map((text) => `- ${inline(text)}`)]),
  code: (lines) =>
    lines.length === 0
      ? []
      : ['', '```', ...lines.map((line) => printable(line).replaceAll('```', "'''")), '```'],
  table: ([header = [], ...rows], rest = '') =>
    rows.length === 0
      ? []
      : [
          '',
          markdownRow(header),
          `|${header.map((_, i) => (i === 0 ? '---' : '---:')).join('|')}|`,
          ...rows.map(markdownRow),
          ...(rest === '' ? [] : ['', rest]),
        ],
  get inner() {
    return MARKDOWN;
  },
};

export type DeviceOrder = ReturnType<typeof deviceOrder>;

/** All devices, in file order. */
export const fileOrder = (devices: readonly unknown[]): DeviceOrder => ({
  shown: devices.map((_, i) => i),
  note: undefined,
});

/** Leaves out devices that the process did not use, unless there are no others, and names them in a note. */
export function deviceOrder(contexts: readonly Pick<DeviceModel, 'trace' | 'replay'>[]) {
  const devices = contexts.map(({ trace, replay }) => ({
    name: trace.kind === 'host' ? 'pinned host memory' : `device ${trace.device}`,
    kind: trace.kind,
    events: trace.events.length,
    segmentsAtEnd: trace.segments.length,
    end: replay.end,
    peaks: replay.peaks,
  }));
  const main = mainDeviceIndex(devices);
  const unused = devices.filter((device, i) => i !== main && isUnusedDevice(device));
  const shown = devices.flatMap((device, i) => (unused.includes(device) ? [] : [i]));
  const names = unused.map(({ name }) => name).join(', ');
  return {
    /** Positions of the devices to list, the main one first. */
    shown: shown.sort((a, b) => Number(b === main) - Number(a === main) || a - b),
    note: names === '' ? undefined : `Not used by this process: ${names}.`,
  };
}

/**
 * A report: the whole page in one file, with a compact snapshot inside that opens by itself.
 *
 *   <meta charset="utf-8">
 *   <script type="application/json" id="vramscope-report">{"format":1, …, "base64":"H4sI…"}</script>
 *   … the page as `npm run build` makes it
 *
 * The data is first and under the key `base64`, so src/format/input reads a dropped report like PyTorch's own HTML.
 */

import { isRecord } from '../../base/collections.ts';

export const REPORT_ELEMENT_ID = 'vramscope-report';

/** Increase this when the page and data of different versions could not be combined. */
const FORMAT = 1;

export interface ReportHead {
  readonly title: string;
  /** The user's notes; plain text. */
  readonly notes: string;
  /** The view to open, as in the URL's hash; '' for the default. */
  readonly hash: string;
  /** ISO 8601, UTC. */
  readonly madeAt: string;
  readonly version: string;
}

export interface Report extends ReportHead {
  /** The gzipped compact snapshot. */
  readonly base64: string;
}

const CHARSET = /<meta charset="[^"]*"\s*\/?>/i;

/**
 * @param shell the page in one file
 * @throws Error if the shell has no charset, which is a fault of the build
 */
export function reportPage(shell: string, report: Report): string {
  const { base64, ...head } = report;
  const json = JSON.stringify({ format: FORMAT, ...head, base64 }).replaceAll('<', '\\u003c');
  const element = `<script type="application/json" id="${REPORT_ELEMENT_ID}">${json}</script>`;
  if (!CHARSET.test(shell)) throw new Error('The page in one file has no charset');
  return shell.replace(CHARSET, (charset) => `${charset}\n    ${element}`);
}

export type ParsedReport =
  | { readonly kind: 'report'; readonly report: Report }
  | { readonly kind: 'problem'; readonly problem: string };

/** Reads the element's text. Never throws. */
export function parseReport(json: string): ParsedReport {
  const value = parseJson(json);
  if (!isRecord(value)) return problem('is damaged and cannot be read');
  if (typeof value.format !== 'number') return problem('is damaged');
  if (value.format > FORMAT) return problem('was made by a newer vramscope');
  if (typeof value.base64 !== 'string') return problem('holds no data');
  const text = (key: keyof ReportHead) => (typeof value[key] === 'string' ? value[key] : '');
  const report: Report = {
    title: text('title'),
    notes: text('notes'),
    hash: text('hash'),
    madeAt: text('madeAt'),
    version: text('version'),
    base64: value.base64,
  };
  return { kind: 'report', report };
}

const problem = (what: string): ParsedReport => ({
  kind: 'problem',
  problem: `This report ${what}. Ask its author to export it again.`,
});

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** The single-file page: its own source, to which a report adds data, and the report that it may hold. */
import {
  type ParsedReport,
  parseReport,
  REPORT_ELEMENT_ID,
} from '../../../output/report/report-page.ts';
import type { OpenSource } from '../../../worker/protocol.ts';

const SHELL_URL = 'vramscope.html';

let own: string | undefined;

/**
 * Keeps the single-file page's source, because file:// can't fetch it. Call this before anything is added to the
 * document.
 */
export function keepShell(document: Document): void {
  if (!import.meta.env.VITE_SINGLE) return;
  const page = document.documentElement.cloneNode(true) as HTMLElement;
  page.querySelector(`#${REPORT_ELEMENT_ID}`)?.remove();
  own = `<!doctype html>\n${page.outerHTML}\n`;
}

/** @throws Error with a message for the user if the server has no such page */
export async function appShell(): Promise<string> {
  if (own !== undefined) return own;
  const response = await fetch(SHELL_URL).catch(() => undefined);
  const text = response?.ok === true ? await response.text() : '';
  // Some servers answer every request with index.html.
  if (text.includes('Content-Security-Policy') && text.includes('worker-src blob:')) return text;
  throw new Error(
    `The page in one file (${SHELL_URL}), is not available: it is downloaded when you export your first report, which needs the network once.`,
  );
}

/**
 * Removes the report from the document, which would otherwise keep its text in memory. Undefined if there is none, as
 * always on a server: only the single-file page holds a report.
 */
export function takeReport(document: Document): ParsedReport | undefined {
  if (!import.meta.env.VITE_SINGLE) return undefined;
  const element = document.getElementById(REPORT_ELEMENT_ID);
  if (element === null) return undefined;
  element.remove();
  return parseReport(element.textContent ?? '');
}

/** @returns the source to open. Opening broken data fails with its own message. */
export function reportSource(title: string, base64: string): OpenSource {
  return { kind: 'blob', blob: new Blob([bytesOf(base64)]), name: title };
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return new Uint8Array(0);
  }
}

/** The page in one file, to which a report adds its data. */
import { REPORT_ELEMENT_ID } from '../../core/report/report-page.ts';

/** Beside index.html on a server. */
const SHELL_URL = 'vramscope.html';

let own: string | undefined;

/**
 * Keeps the page's own text, where it is the page in one file: on file:// it can't be fetched. To be
 * called before anything is added to the document.
 */
export function keepShell(document: Document): void {
  if (!import.meta.env.VITE_SINGLE) return;
  const page = document.documentElement.cloneNode(true) as HTMLElement;
  page.querySelector(`#${REPORT_ELEMENT_ID}`)?.remove();
  own = `<!doctype html>\n${page.outerHTML}\n`;
}

/** @throws Error in words for the user when the server has no such page */
export async function appShell(): Promise<string> {
  if (own !== undefined) return own;
  const response = await fetch(SHELL_URL).catch(() => undefined);
  const text = response?.ok === true ? await response.text() : '';
  // A server that answers everything with its index.html has not answered this.
  if (text.includes('Content-Security-Policy') && text.includes('worker-src blob:')) return text;
  throw new Error(
    `The page in one file (${SHELL_URL}), which a report is made of, cannot be had: it is fetched when the first report is made, and needs the network once.`,
  );
}

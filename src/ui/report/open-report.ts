/** The report that this page is, if it is one. */
import {
  type ParsedReport,
  parseReport,
  REPORT_ELEMENT_ID,
} from '../../core/report/report-page.ts';
import type { OpenSource } from '../../engine/protocol.ts';

/** Takes the report out of the document, which would otherwise keep its text for good. */
export function takeReport(document: Document): ParsedReport | undefined {
  const element = document.getElementById(REPORT_ELEMENT_ID);
  if (element === null) return undefined;
  element.remove();
  return parseReport(element.textContent ?? '');
}

/** @returns what the session opens; broken data are refused by what reads it, in its own words */
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

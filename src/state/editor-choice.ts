/** The editor that the user chose, as a preference: the page before a file needs no more of it than this. */
import { isRecord } from '../base/collections.ts';

export const NO_EDITOR = {
  /** Of EDITORS in editor.ts, OWN_EDITOR, 'none', or '' before the user has chosen. */
  id: '',
  /** The user's own template, for OWN_EDITOR. */
  template: '',
  host: '',
  /** Recorded paths that begin with `from` begin with `to` here. '' leaves them as they are. */
  from: '',
  to: '',
};
export type EditorChoice = Readonly<typeof NO_EDITOR>;

/** Accepts any value, as stored by another version or by hand. An unknown editor stays chosen, but opens nothing. */
export function parseEditor(value: unknown): EditorChoice {
  const given = isRecord(value) ? value : {};
  const isText = (key: string) => typeof given[key] === 'string';
  const texts = Object.keys(NO_EDITOR).map((key) => [key, isText(key) ? given[key] : '']);
  return Object.fromEntries(texts);
}

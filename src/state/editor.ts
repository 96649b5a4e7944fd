/**
 * Links that open a recorded line in an editor: 'vscode://file/home/me/run/train.py:21'. The recording may be from
 * another machine, so the start of its paths can be replaced by a folder of this one.
 */
import type { EditorChoice } from './editor-choice.ts';

export interface Editor {
  readonly id: string;
  readonly label: string;
  /**
   * {path} begins with a slash ('/C:/run/train.py'), {file} is the path as the system has it; {host} is the SSH host.
   */
  readonly template: string;
}

export const EDITORS = [
  { id: 'vscode', label: 'VS Code', template: 'vscode://file{path}:{line}' },
  {
    id: 'vscode-ssh',
    label: 'VS Code, over SSH',
    template: 'vscode://vscode-remote/ssh-remote+{host}{path}:{line}',
  },
  { id: 'cursor', label: 'Cursor', template: 'cursor://file{path}:{line}' },
  {
    id: 'cursor-ssh',
    label: 'Cursor, over SSH',
    template: 'cursor://vscode-remote/ssh-remote+{host}{path}:{line}',
  },
  { id: 'windsurf', label: 'Windsurf', template: 'windsurf://file{path}:{line}' },
  { id: 'zed', label: 'Zed', template: 'zed://file{path}:{line}' },
  { id: 'pycharm', label: 'PyCharm', template: 'pycharm://open?file={file}&line={line}' },
  { id: 'sublime', label: 'Sublime Text', template: 'subl://open?url=file://{path}&line={line}' },
] as const satisfies readonly Editor[];

/** A template of the user's own. */
export const OWN_EDITOR = 'own';

/** Until the user chooses, the most common one opens files that are known to be on this machine. */
export const editorFor = (choice: EditorChoice, isLocal: boolean): EditorChoice =>
  choice.id === '' && isLocal ? { ...choice, id: 'vscode' } : choice;

export const templateOf = ({ id, template }: EditorChoice): string =>
  id === OWN_EDITOR ? template : (EDITORS.find((editor) => editor.id === id)?.template ?? '');

/** The recorded '/workspace/run/train.py' on this machine: '/home/me/run/train.py'. */
export function mappedPath({ from, to }: Pick<EditorChoice, 'from' | 'to'>, file: string): string {
  const isInside = from !== '' && file.startsWith(from);
  return isInside ? to + file.slice(from.length) : file;
}

/** A link must neither run a script in the page nor replace the page. */
const EDITOR_SCHEME = /^(?!javascript:|data:|blob:|vbscript:|about:|file:)[a-z][a-z0-9+.-]*:/i;

export const isEditorTemplate = (template: string): boolean =>
  EDITOR_SCHEME.test(template) && /\{(path|file)\}/.test(template);

/** Undefined if no editor is chosen, or the template is not a link. @param file its path on this machine */
export function editorLink(choice: EditorChoice, file: string, line: number): string | undefined {
  const template = templateOf(choice);
  if (!isEditorTemplate(template)) return undefined;
  const local = file.replaceAll('\\', '/');
  const values: Readonly<Record<string, string>> = {
    path: encodePath(local.startsWith('/') ? local : `/${local}`),
    file: encodePath(local),
    line: String(Math.max(1, line)),
    host: encodeURIComponent(choice.host),
  };
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

/** Slashes and the colon of a drive stay. */
const encodePath = (path: string): string =>
  path
    .split('/')
    .map(encodeURIComponent)
    .join('/')
    .replace(/^(\/?[a-z])%3A/i, '$1:');

export const editorName = ({ id }: EditorChoice): string =>
  EDITORS.find((editor) => editor.id === id)?.label ?? 'your editor';

import { describe, expect, it } from 'vitest';
import { EDITORS, editorFor, editorLink, mappedPath, OWN_EDITOR } from './editor.ts';
import { NO_EDITOR, parseEditor } from './editor-choice.ts';

const inEditor = (id: string, change = {}) => ({ ...NO_EDITOR, id, ...change });

describe('a link to a line', () => {
  it.each([
    ['vscode', '/home/me/run/train.py', 'vscode://file/home/me/run/train.py:21'],
    ['vscode', 'C:\\run\\train.py', 'vscode://file/C:/run/train.py:21'],
    ['cursor', '/Users/me/my run/a#b.py', 'cursor://file/Users/me/my%20run/a%23b.py:21'],
    ['pycharm', 'C:\\run\\train.py', 'pycharm://open?file=C:/run/train.py&line=21'],
    ['sublime', '/run/train.py', 'subl://open?url=file:///run/train.py&line=21'],
  ])('in %s, of %s', (id, file, link) => {
    expect(editorLink(inEditor(id), file, 21)).toBe(link);
  });

  it('uses a folder of this machine instead of the recorded one', () => {
    const choice = { from: '/workspace/', to: '/home/me/' };
    expect(mappedPath(choice, '/workspace/run/train.py')).toBe('/home/me/run/train.py');
    expect(mappedPath(choice, '/usr/lib/x.py')).toBe('/usr/lib/x.py');
    expect(mappedPath({ from: '', to: '/home' }, '/usr/lib/x.py')).toBe('/usr/lib/x.py');
  });

  it('goes over SSH to the given host', () => {
    expect(editorLink(inEditor('vscode-ssh', { host: 'gpu7' }), '/run/train.py', 3)).toBe(
      'vscode://vscode-remote/ssh-remote+gpu7/run/train.py:3',
    );
  });

  it('accepts a custom template, if it is a link to an editor', () => {
    const own = (template: string) =>
      editorLink(inEditor(OWN_EDITOR, { template }), '/run/train.py', 3);
    expect(own('myedit://{path}?l={line}')).toBe('myedit:///run/train.py?l=3');
    for (const template of [
      '',
      'nothing',
      'javascript:alert("{path}")',
      ' javascript:{path}',
      'data:{path}',
      'x:1',
    ])
      expect(own(template)).toBeUndefined();
  });

  it('is missing before an editor is chosen, unless the file is known to be on this machine', () => {
    const linkOf = (id: string, isLocal: boolean) =>
      editorLink(editorFor(inEditor(id), isLocal), '/run/train.py', 3);
    expect(linkOf('', false)).toBeUndefined();
    expect(linkOf('', true)).toBe('vscode://file/run/train.py:3');
    expect(linkOf('none', true)).toBeUndefined();
    expect(linkOf('zed', true)).toBe('zed://file/run/train.py:3');
  });
});

it('accepts any stored choice; an editor that only another version knows opens nothing', () => {
  expect(parseEditor(undefined)).toEqual(NO_EDITOR);
  const unknown = parseEditor({ id: 'emacs', from: 7, host: 'gpu7' });
  expect(unknown).toEqual({ ...NO_EDITOR, id: 'emacs', host: 'gpu7' });
  expect(editorLink(unknown, '/run/train.py', 3)).toBeUndefined();
  for (const { id } of EDITORS) expect(parseEditor({ id }).id).toBe(id);
});

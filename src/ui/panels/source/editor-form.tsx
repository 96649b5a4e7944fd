import { ExternalLink } from 'lucide-react';
import { useId } from 'react';
import { frameLocation } from '../../../device/model/frame-text.ts';
import type { FrameView } from '../../../device/model/types.ts';
import {
  EDITORS,
  editorLink,
  editorName,
  isEditorTemplate,
  OWN_EDITOR,
  templateOf,
} from '../../../state/editor.ts';
import type { EditorChoice } from '../../../state/editor-choice.ts';
import { useStores } from '../../../state/stores.ts';
import { Select } from '../../shared/buttons.tsx';
import { useEditor } from '../../shared/frame-links.tsx';

const CHOICES = [
  { value: 'none', label: 'no editor' },
  ...EDITORS.map(({ id, label }) => ({ value: id as string, label })),
  { value: OWN_EDITOR, label: 'another, by a link' },
];

/** Which editor opens the lines, and where the files are on this machine. */
export function EditorForm({ frame }: { readonly frame: FrameView }) {
  const { preferences } = useStores();
  const { editor, localPath } = useEditor(frame.filename);
  const id = useId();
  const set = (change: Partial<EditorChoice>) =>
    preferences.set({ editor: { ...editor, ...change } });
  const link = editorLink(editor, localPath, frame.line);
  /** `problem` says what is wanted instead of the value. */
  const field = (
    name: keyof EditorChoice,
    label: string,
    placeholder: string,
    problem?: string,
  ) => (
    <div className="row source-field">
      <label htmlFor={`${id}-${name}`}>{label}</label>
      <input
        id={`${id}-${name}`}
        className="field mono"
        spellCheck={false}
        placeholder={placeholder}
        value={editor[name]}
        aria-invalid={problem !== undefined}
        aria-describedby={problem && `${id}-${name}-problem`}
        onChange={({ currentTarget }) => set({ [name]: currentTarget.value })}
      />
      {problem !== undefined && (
        <span id={`${id}-${name}-problem`} className="dim">
          {problem}
        </span>
      )}
    </div>
  );
  return (
    <div className="source-editor">
      <div className="row">
        <label htmlFor={id}>Open lines in</label>
        <Select
          id={id}
          value={editor.id || 'none'}
          options={CHOICES}
          onChoose={(chosen) => set({ id: chosen })}
        />
        {link !== undefined && (
          <a className="button source-open" href={link}>
            <ExternalLink size={14} aria-hidden /> Open {frameLocation(frame)} in{' '}
            {editorName(editor)}
          </a>
        )}
      </div>
      {editor.id === OWN_EDITOR &&
        field(
          'template',
          'Link',
          OWN_LINK,
          isEditorTemplate(editor.template) ? undefined : `a link such as ${OWN_LINK}`,
        )}
      {templateOf(editor).includes('{host}') &&
        field(
          'host',
          'SSH host',
          'gpu-node, as in your SSH configuration',
          editor.host === '' ? 'the name of the machine that has the files' : undefined,
        )}
      {(editor.id === OWN_EDITOR || templateOf(editor) !== '') && (
        <details className="source-mapping" open={editor.from !== ''}>
          <summary>The files are elsewhere on this machine</summary>
          <div className="row">
            {field('from', 'Recorded paths that begin with', '/workspace/')}
            {field('to', 'are here in', '/home/me/project/')}
          </div>
          <p className="dim mono">{localPath}</p>
        </details>
      )}
    </div>
  );
}

const OWN_LINK = 'myeditor://open?file={path}&line={line}';

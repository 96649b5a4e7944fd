import { ExternalLink } from 'lucide-react';
import { useId } from 'react';
import { frameLocation } from '../../../device/model/frame-text.ts';
import type { FrameView } from '../../../device/model/types.ts';
import {
  EDITORS,
  type EditorChoice,
  editorLink,
  editorName,
  isEditorTemplate,
  OWN_EDITOR,
  templateOf,
} from '../../../state/editor.ts';
import { usePreferences, useStores } from '../../../state/stores.ts';
import { Select } from '../../shared/buttons.tsx';
import { useLocalPath } from '../../shared/frame-links.tsx';

const CHOICES = [
  { value: '', label: 'no editor' },
  ...EDITORS.map(({ id, label }) => ({ value: id as string, label })),
  { value: OWN_EDITOR, label: 'another, by its link' },
];

/** Which editor opens the lines, and where the files are on this machine. */
export function EditorForm({ frame }: { readonly frame: FrameView }) {
  const { preferences } = useStores();
  const editor = usePreferences(({ editor }) => editor);
  const id = useId();
  const template = templateOf(editor);
  const set = (change: Partial<EditorChoice>) =>
    preferences.set({ editor: { ...editor, ...change } });
  const localPath = useLocalPath(frame.filename);
  const link = editorLink(editor, localPath, frame.line);
  return (
    <div className="source-editor">
      <div className="row">
        <label htmlFor={id}>Open lines in</label>
        <Select
          id={id}
          value={editor.id}
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
      {editor.id === OWN_EDITOR && (
        <TextField
          label="Link"
          placeholder="myeditor://open?file={path}&line={line}"
          value={editor.template}
          problem={
            isEditorTemplate(editor.template)
              ? undefined
              : 'a link such as myeditor://open?file={path}&line={line}'
          }
          onChange={(template) => set({ template })}
        />
      )}
      {template.includes('{host}') && (
        <TextField
          label="SSH host"
          placeholder="gpu-node, as in your SSH configuration"
          value={editor.host}
          problem={editor.host === '' ? 'the name of the machine that has the files' : undefined}
          onChange={(host) => set({ host })}
        />
      )}
      {editor.id !== '' && (
        <details className="source-mapping" open={editor.from !== ''}>
          <summary>The files are elsewhere on this machine</summary>
          <div className="row">
            <TextField
              label="Recorded paths that begin with"
              placeholder="/workspace/"
              value={editor.from}
              onChange={(from) => set({ from })}
            />
            <TextField
              label="are here in"
              placeholder="/home/me/project/"
              value={editor.to}
              onChange={(to) => set({ to })}
            />
          </div>
          <p className="dim mono">{localPath}</p>
        </details>
      )}
    </div>
  );
}

interface TextFieldProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  /** What is wanted instead of the value. */
  readonly problem?: string | undefined;
  readonly onChange: (value: string) => void;
}

function TextField({ label, placeholder, value, problem, onChange }: TextFieldProps) {
  const id = useId();
  return (
    <div className="row source-field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="field mono"
        spellCheck={false}
        placeholder={placeholder}
        value={value}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : `${id}-problem`}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
      {problem !== undefined && (
        <span id={`${id}-problem`} className="dim">
          {problem}
        </span>
      )}
    </div>
  );
}

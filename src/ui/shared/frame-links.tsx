import { ExternalLink, FileCode } from 'lucide-react';
import { createContext, useContext } from 'react';
import { useStore } from 'zustand';
import { frameLabel, frameLocation } from '../../device/model/frame-text.ts';
import type { FrameView } from '../../device/model/types.ts';
import { editorFor, editorLink, editorName, mappedPath } from '../../state/editor.ts';
import { usePreferences, useStores } from '../../state/stores.ts';
import { Button, IconButton } from './buttons.tsx';
import { frameTitle } from './code-place.tsx';

/** Shows the file of a frame; undefined where no snapshot is open. */
export const ShowSourceContext = createContext<((frame: FrameView) => void) | undefined>(undefined);

/** Where a file is on this machine (in the folder that the local server shows, else where the user says), and its editor. */
export function useEditor(filename: string) {
  const { source } = useStores();
  const choice = usePreferences((preferences) => preferences.editor);
  const served = useStore(source, ({ folder }) => folder?.find(filename)?.localPath);
  const localPath = served ?? mappedPath(choice, filename);
  return { localPath, editor: editorFor(choice, served !== undefined) };
}

/** A frame's label, which shows its file; only its text where there is none to show. */
export function FrameLink({ frame, label = frameLabel(frame) }: FrameLinkProps) {
  const showSource = useContext(ShowSourceContext);
  if (frameLocation(frame) === undefined || frame.kind === 'cpp' || showSource === undefined)
    return label;
  return (
    <Button className="link" title={frameTitle(frame)} onClick={() => showSource(frame)}>
      {label}
    </Button>
  );
}

interface FrameLinkProps {
  readonly frame: FrameView;
  readonly label?: string;
}

/** From a frame to its code: what each line of its file holds, and the line in the editor. */
export function FrameLinks({ frame }: { readonly frame: FrameView }) {
  const { editor, localPath } = useEditor(frame.filename);
  const showSource = useContext(ShowSourceContext);
  const place = frameLocation(frame);
  if (place === undefined || frame.kind === 'cpp' || showSource === undefined) return undefined;
  const link = editorLink(editor, localPath, frame.line);
  const opens = `Open ${place} in ${editorName(editor)}`;
  return (
    <span className="frame-links">
      <IconButton
        icon={FileCode}
        label={`Lines of ${place}`}
        title="What each line of this file allocates and holds"
        onClick={() => showSource(frame)}
      />
      {link !== undefined && (
        <a className="icon-button" href={link} title={opens} aria-label={opens}>
          <ExternalLink size={16} aria-hidden />
        </a>
      )}
    </span>
  );
}

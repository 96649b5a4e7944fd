import { createContext, type ReactNode, useContext, useRef } from 'react';
import type { GivenFiles } from '../../../state/given-files.ts';

const PickFileContext = createContext<() => void>(() => undefined);

interface FilePickerRootProps {
  /** A file is about to be chosen. */
  readonly onPick: () => void;
  readonly onFiles: (given: GivenFiles) => void;
  readonly children: ReactNode;
}

/** Holds the page's one file input, which all pickers below it share. */
export function FilePickerRoot({ onPick, onFiles, children }: FilePickerRootProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <PickFileContext
      value={() => {
        onPick();
        input.current?.click();
      }}
    >
      <input
        ref={input}
        data-testid="file-input"
        type="file"
        multiple
        hidden
        aria-label="Snapshot file"
        onChange={({ currentTarget }) => {
          onFiles({ files: [...(currentTarget.files ?? [])], folders: [], isChosen: true });
          // Emptied, so that the same file can be chosen again.
          currentTarget.value = '';
        }}
      />
      {children}
    </PickFileContext>
  );
}

interface FilePickerProps {
  readonly className: string;
  /** Before the chooser opens. */
  readonly onPick?: () => void;
  readonly children: ReactNode;
}

/** A button that asks for a file. */
export function FilePicker({ className, onPick, children }: FilePickerProps) {
  const pickFile = useContext(PickFileContext);
  return (
    <button
      type="button"
      className={className}
      onClick={() => {
        onPick?.();
        pickFile();
      }}
    >
      {children}
    </button>
  );
}

import { createContext, type ReactNode, useContext, useRef } from 'react';
import { useServices } from '../shared/services.ts';

const PickFileContext = createContext<() => void>(() => undefined);

interface FilePickerRootProps {
  /** A file is about to be chosen. */
  readonly onPick: () => void;
  readonly children: ReactNode;
}

/** Holds the page's one file input, which all pickers below it share. */
export function FilePickerRoot({ onPick, children }: FilePickerRootProps) {
  const { loader } = useServices();
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
        hidden
        aria-label="Snapshot file"
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          if (file !== undefined) void loader.open({ kind: 'blob', blob: file, name: file.name });
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
  readonly children: ReactNode;
}

/** A button that asks for a file. */
export function FilePicker({ className, children }: FilePickerProps) {
  const pickFile = useContext(PickFileContext);
  return (
    <button type="button" className={className} onClick={pickFile}>
      {children}
    </button>
  );
}

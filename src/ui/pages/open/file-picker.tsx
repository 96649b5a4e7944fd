import { createContext, type ReactNode, useContext, useEffect, useRef } from 'react';
import type { GivenFiles } from '../../../state/given-files.ts';
import { Button, type ButtonProps } from '../../shared/buttons.tsx';

const PickFileContext = createContext<() => void>(() => undefined);

interface FilePickerRootProps {
  /** The file chooser opens or closes. */
  readonly onPicking: (isPicking: boolean) => void;
  readonly onFiles: (given: GivenFiles) => void;
  readonly children: ReactNode;
}

/** Holds the page's one file input, which all pickers below it share. */
export function FilePickerRoot({ onPicking, onFiles, children }: FilePickerRootProps) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // React has no such event for inputs.
    const onCancel = () => onPicking(false);
    input.current?.addEventListener('cancel', onCancel);
    return () => input.current?.removeEventListener('cancel', onCancel);
  }, [onPicking]);
  return (
    <PickFileContext
      value={() => {
        onPicking(true);
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
          onPicking(false);
          onFiles({ files: [...(currentTarget.files ?? [])], folders: [], isChosen: true });
          // Without this, the user could not choose the same file again.
          currentTarget.value = '';
        }}
      />
      {children}
    </PickFileContext>
  );
}

/** @param onPick called before the file chooser opens */
export function FilePicker({ onPick, ...props }: ButtonProps & { readonly onPick?: () => void }) {
  const pickFile = useContext(PickFileContext);
  const pick = () => {
    onPick?.();
    pickFile();
  };
  return <Button {...props} onClick={pick} />;
}

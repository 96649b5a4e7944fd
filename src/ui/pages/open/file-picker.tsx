import { createContext, type ReactNode, useContext, useEffect, useRef } from 'react';
import { chooseOnDisk } from '../../../state/disk-files.ts';
import type { GivenFiles } from '../../../state/given-files.ts';
import { Button, type ButtonProps } from '../../shared/buttons.tsx';

const PickFileContext = createContext<() => void>(() => undefined);

interface FilePickerRootProps {
  /** The file chooser opens or closes. */
  readonly onPicking: (isPicking: boolean) => void;
  readonly onFiles: (given: GivenFiles) => void;
  readonly children: ReactNode;
}

/** Holds the page's one file input, which all pickers below it share where the browser has no chooser with handles. */
export function FilePickerRoot({ onPicking, onFiles, children }: FilePickerRootProps) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // React has no such event for inputs.
    const onCancel = () => onPicking(false);
    input.current?.addEventListener('cancel', onCancel);
    return () => input.current?.removeEventListener('cancel', onCancel);
  }, [onPicking]);
  const take = (files: readonly File[]) => {
    onPicking(false);
    onFiles({ files, folders: [], isChosen: true });
  };
  return (
    <PickFileContext
      value={async () => {
        onPicking(true);
        const chosen = await chooseOnDisk();
        if (chosen === undefined) input.current?.click();
        else take(chosen);
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
          take([...(currentTarget.files ?? [])]);
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

import type { GivenFiles } from '../../../state/given-files.ts';
import { Button } from '../../shared/buttons.tsx';
import { Dialog } from '../../shared/dialog.tsx';

export type GivenChoice =
  | { readonly kind: 'compare' }
  | { readonly kind: 'ranks' }
  | { readonly kind: 'replace'; readonly file: File };

interface GivenDialogProps {
  readonly given: GivenFiles;
  readonly openName: string;
  readonly onChoose: (choice: GivenChoice) => void;
  readonly onCancel: () => void;
}

/** Asks what to do with one or two files dropped on an open one. */
export function GivenDialog({ given, openName, onChoose, onCancel }: GivenDialogProps) {
  const names = given.files.map(({ name }) => name);
  const isTwo = names.length === 2;
  const option = (choice: GivenChoice, title: string, about: string, key = 0) => (
    <li key={key}>
      <button type="button" className="sample" onClick={() => onChoose(choice)}>
        <span className="sample-title">{title}</span>
        <span className="dim">{about}</span>
      </button>
    </li>
  );
  return (
    <Dialog
      isQuestion
      title={`What should vramscope do with ${names.join(' and ')}?`}
      isOpen
      onClose={onCancel}
    >
      <p className="dim">{openName} is open.</p>
      <ul className="given-choices">
        {option(
          { kind: 'compare' },
          isTwo ? 'Compare the two files' : `Compare with ${openName}`,
          `Why one needs more memory than the other.${isTwo ? ` Closes ${openName}.` : ''}`,
        )}
        {option(
          { kind: 'ranks' },
          isTwo ? 'Show the two as ranks of a job' : 'Show both as ranks of a job',
          `Which rank holds more, and at which line. ${openName} stays open behind them.`,
        )}
        {given.files.map((file, i) =>
          option({ kind: 'replace', file }, `Replace with ${file.name}`, `Closes ${openName}.`, i),
        )}
      </ul>
      <Button onClick={onCancel}>Cancel</Button>
    </Dialog>
  );
}

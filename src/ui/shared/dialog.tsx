import './dialog.css';
import { X } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { IconButton } from './buttons.tsx';

interface DialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  /** Called for Esc, the button, or a click outside. */
  readonly onClose: () => void;
  readonly className?: string;
  /** A question has no close button: its answers end with a cancel button. */
  readonly isQuestion?: boolean;
  readonly children: ReactNode;
}

/** A modal dialog: the browser keeps the focus inside and restores it afterwards. */
export function Dialog(props: DialogProps) {
  const { title, isOpen, onClose, className = '', isQuestion = false, children } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: for keys there is Esc
    <dialog
      ref={dialog}
      className={`floating dialog ${className}`}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => event.target === event.currentTarget && onClose()}
    >
      <div className="dialog-body">
        <div className="spread">
          <h2 className="dialog-title">{title}</h2>
          {!isQuestion && <IconButton icon={X} label="Close" onClick={onClose} />}
        </div>
        {children}
      </div>
    </dialog>
  );
}

import { type ComponentType, useEffect, useState } from 'react';
import { useServices } from '../shared/services.ts';

interface HelpProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** The help, fetched when it is first asked for; without a network it stays closed. */
export function LazyHelp({ isOpen, onClose }: HelpProps) {
  const { idle } = useServices();
  const [Dialog, setDialog] = useState<ComponentType<HelpProps>>();
  const isWanted = isOpen && Dialog === undefined;
  useEffect(() => {
    if (!isWanted) return;
    const fetchDialog = async () => {
      const { HelpDialog } = await import('../help/help-dialog.tsx');
      // A function given to a setter is called: hand it one that gives the component.
      setDialog(() => HelpDialog);
    };
    idle.during(fetchDialog).catch(onClose);
  }, [isWanted, idle, onClose]);
  return Dialog && <Dialog isOpen={isOpen} onClose={onClose} />;
}

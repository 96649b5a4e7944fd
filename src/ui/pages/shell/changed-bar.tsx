/** Says that the open file was written again, and offers the new one. Nothing is opened unasked. */
import { X } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { SessionInfo } from '../../../device/model/device-info.ts';
import { isWatchable, readAgain, versionNow, watchDisk } from '../../../state/disk-watch.ts';
import type { OpenSource } from '../../../worker/protocol.ts';
import { Button, IconButton } from '../../shared/buttons.tsx';
import { useServices } from '../../shared/services.ts';

interface ChangedBarProps {
  readonly info: SessionInfo;
  readonly onCompare: (source: OpenSource) => void;
}

export function ChangedBar({ info, onCompare }: ChangedBarProps) {
  const { loader } = useServices();
  const { isChanged, dismiss } = useChangedOnDisk(info);
  if (!isChanged) return undefined;
  /** If the file is gone by now, opening it says so. */
  const take = async (use: (source: OpenSource) => void) => {
    const source = loader.opened();
    dismiss();
    if (source !== undefined) use(await readAgain(source).catch(() => source));
  };
  const { name } = info.file;
  return (
    <aside className="spread notices quiet-notice" aria-label="Changed on disk">
      <p className="one-line" role="status">
        {name} changed on disk.
      </p>
      <span className="button-row">
        <Button onClick={() => void take((source) => void loader.open(source))}>
          Open the new one
        </Button>
        <Button onClick={() => void take(onCompare)}>Compare with it</Button>
        <IconButton icon={X} label="Keep the one that is open" onClick={dismiss} />
      </span>
    </aside>
  );
}

interface Watched {
  readonly info: SessionInfo;
  readonly opened: string;
  readonly onDisk: string;
}

function useChangedOnDisk(info: SessionInfo) {
  const { loader } = useServices();
  const [watched, setWatched] = useState<Watched>();
  const [dismissed, setDismissed] = useState<string>();
  useEffect(() => {
    const source = loader.opened();
    if (source === undefined || !isWatchable(source)) return;
    let stop = () => {};
    let isOver = false;
    void loader.openedVersion().then((opened) => {
      if (isOver || opened === undefined) return;
      const look = () => versionNow(source);
      const onVersion = (onDisk: string) => setWatched({ info, opened, onDisk });
      stop = watchDisk({ opened, look, page: document, onVersion });
    });
    return () => {
      isOver = true;
      stop();
    };
  }, [loader, info]);
  const { opened, onDisk } = watched?.info === info ? watched : {};
  const isChanged = onDisk !== opened && onDisk !== dismissed;
  return { isChanged, dismiss: () => setDismissed(onDisk) };
}

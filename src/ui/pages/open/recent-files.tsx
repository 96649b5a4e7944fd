import './recent-files.css';
import { X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { formatFileSize } from '../../../base/format.ts';
import { failureOf, type LoadFailure } from '../../../base/load-error.ts';
import {
  forgetAllFiles,
  forgetFile,
  openRecent,
  type RecentFile,
  recentFiles,
} from '../../../state/recent-files.ts';
import { Button, IconButton } from '../../shared/buttons.tsx';
import { useServices } from '../../shared/services.ts';

export { forgetAllFiles } from '../../../state/recent-files.ts';

interface Failed extends Pick<LoadFailure, 'message' | 'advice'> {
  readonly id: string;
}

/** Shown while the user wants files remembered. */
export function RecentFiles() {
  const { loader, idle } = useServices();
  const [files, setFiles] = useState<readonly RecentFile[]>([]);
  const [failed, setFailed] = useState<Failed>();
  useEffect(() => {
    // In a private window there may be no database: then the list stays empty.
    idle.during(recentFiles).then(setFiles, () => undefined);
  }, [idle]);
  async function open(file: RecentFile): Promise<void> {
    setFailed(undefined);
    try {
      await loader.open(await openRecent(file));
    } catch (error) {
      setFailed({ id: file.id, ...failureOf(error, `${file.name} can't be opened`) });
    }
  }
  async function forget(id: string): Promise<void> {
    setFiles(files.filter((file) => file.id !== id));
    await forgetFile(id);
  }
  async function forgetAll(): Promise<void> {
    setFiles([]);
    await forgetAllFiles();
  }
  if (files.length === 0) {
    return <p className="dim">Files that you open from now on are listed here.</p>;
  }
  return (
    <section aria-labelledby="recent-heading">
      <div className="spread recent-heading">
        <h2 id="recent-heading">Recent files</h2>
        <Button onClick={() => void forgetAll()}>Forget all</Button>
      </div>
      <ul className="column recent-files">
        {files.map((file) => (
          <li key={file.id}>
            <div className="row">
              <Button className="sample" onClick={() => void open(file)}>
                <span className="spread">
                  <strong className="one-line">{file.name}</strong>
                  <span className="dim">
                    {formatFileSize(file.bytes)}, {dateText(file.writtenMs)}
                  </span>
                </span>
                {file.verdict !== undefined && <span className="dim">{file.verdict}</span>}
              </Button>
              <IconButton
                icon={X}
                label={`Forget ${file.name}`}
                onClick={() => void forget(file.id)}
              />
            </div>
            {failed?.id === file.id && (
              <p className="callout" role="alert">
                {failed.message} {failed.advice}
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

const dateText = (ms: number): string =>
  new Date(ms).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short' });

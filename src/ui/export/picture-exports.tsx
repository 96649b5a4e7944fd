import { Image } from 'lucide-react';
import { useState } from 'react';
import { snapshotStem } from '../../core/base/file-names.ts';
import { useView } from '../../state/stores.ts';
import { useDevice } from '../shared/device-context.ts';
import { downloadText } from '../shared/download.ts';
import { useServices } from '../shared/services.ts';
import { VIEW_LABELS } from '../shared/view-names.ts';
import { type PictureKind, takePicture } from './picture.ts';

const MIME: Readonly<Record<PictureKind, string>> = { png: 'image/png', svg: 'image/svg+xml' };

/** The view that is open, with its axes, legend and title. */
export function PictureExports() {
  const { info, device } = useDevice();
  const { idle } = useServices();
  const name = useView((view) => view.view);
  const { label } = VIEW_LABELS[name];
  const [failure, setFailure] = useState<string>();
  async function save(kind: PictureKind): Promise<void> {
    setFailure(undefined);
    const place = device.kind === 'host' ? 'pinned memory' : `cuda:${device.device}`;
    const title = `${label} · ${info.file.name} · ${place}`;
    try {
      const blob = await idle.during(() => takePicture(kind, title));
      downloadText(`${snapshotStem(info.file.name)}-${name}.${kind}`, MIME[kind], [blob]);
    } catch (error) {
      setFailure(error instanceof Error ? error.message : 'The browser could not make it.');
    }
  }
  return (
    <div className="report-actions">
      {(['png', 'svg'] as const).map((kind) => (
        <button key={kind} type="button" className="button" onClick={() => void save(kind)}>
          <Image size={13} aria-hidden />
          {label} as {kind.toUpperCase()}
        </button>
      ))}
      {failure !== undefined && <p role="alert">{failure}</p>}
    </div>
  );
}

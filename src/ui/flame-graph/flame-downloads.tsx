import { Download } from 'lucide-react';
import { useState } from 'react';
import { errorText } from '../../core/base/error-text.ts';
import type { DeviceInfo, SessionInfo } from '../../core/device/types.ts';
import type { FlameQuestion } from '../../engine/handlers/flame-graph.ts';
import { useView } from '../../state/stores.ts';
import { downloadText } from '../shared/download.ts';
import { useServices } from '../shared/services.ts';
import { DATASET_TEXT, exportName } from './flame-labels.ts';

interface FlameFile {
  readonly format: 'folded' | 'speedscope';
  readonly label: string;
  readonly title: string;
  readonly extension: string;
  readonly mime: string;
}

const FILES: readonly FlameFile[] = [
  {
    format: 'folded',
    label: 'Folded',
    title: 'Folded stacks: a line a stack, for flamegraph.pl and its kin',
    extension: 'folded.txt',
    mime: 'text/plain',
  },
  {
    format: 'speedscope',
    label: 'Speedscope',
    title: 'A JSON file for speedscope',
    extension: 'speedscope.json',
    mime: 'application/json',
  },
];

interface FlameDownloadsProps {
  readonly info: SessionInfo;
  readonly device: DeviceInfo;
  readonly question: FlameQuestion;
}

/** The same figures for other programs. */
export function FlameDownloads({ info, device, question }: FlameDownloadsProps) {
  const { session } = useServices();
  const flame = useView((view) => view.flame);
  const [failure, setFailure] = useState<string>();
  const fileName = exportName(info.file.name, flame, device);
  const save = async ({ format, extension, mime }: FlameFile) => {
    setFailure(undefined);
    try {
      const name = `${info.file.name}, ${DATASET_TEXT[flame.dataset]}`;
      const text = await session.flameExport({ ...question, format, name });
      downloadText(`${fileName}.${extension}`, mime, text);
    } catch (error) {
      setFailure(errorText(error));
    }
  };
  return (
    <span className="flame-downloads">
      {FILES.map((file) => (
        <button
          key={file.format}
          type="button"
          className="button"
          title={file.title}
          onClick={() => void save(file)}
        >
          <Download size={13} aria-hidden />
          {file.label}
        </button>
      ))}
      {failure !== undefined && <span role="alert">Not saved: {failure}</span>}
    </span>
  );
}

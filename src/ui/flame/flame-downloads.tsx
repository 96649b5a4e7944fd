import { Download } from 'lucide-react';
import { useState } from 'react';
import { errorText } from '../../core/base/error-text.ts';
import type { DeviceInfo, SessionInfo } from '../../core/query/types.ts';
import type { FlameQuestion } from '../../engine/answers/flame.ts';
import { useView } from '../../state/stores.ts';
import { downloadText } from '../app/download.ts';
import { useServices } from '../app/services.ts';
import { exportName, OF_TEXT } from './flame-words.ts';

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
  const save = async (format: 'folded' | 'speedscope') => {
    setFailure(undefined);
    try {
      const name = `${info.file.name}, ${OF_TEXT[flame.of]}`;
      const text = await session.flameExport({ ...question, format, name });
      if (format === 'folded') downloadText(`${fileName}.folded.txt`, 'text/plain', text);
      else downloadText(`${fileName}.speedscope.json`, 'application/json', text);
    } catch (error) {
      setFailure(errorText(error));
    }
  };
  return (
    <span className="flame-downloads">
      <button
        type="button"
        className="button"
        title="Folded stacks: a line a stack, for flamegraph.pl and its kin"
        onClick={() => void save('folded')}
      >
        <Download size={13} aria-hidden />
        Folded
      </button>
      <button
        type="button"
        className="button"
        title="A JSON file for speedscope"
        onClick={() => void save('speedscope')}
      >
        <Download size={13} aria-hidden />
        Speedscope
      </button>
      {failure !== undefined && <span role="alert">Not saved: {failure}</span>}
    </span>
  );
}

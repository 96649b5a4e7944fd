import { Download } from 'lucide-react';
import { useState } from 'react';
import { errorText } from '../../../base/errors.ts';
import { useView } from '../../../state/stores.ts';
import { downloadText } from '../../shared/browser.ts';
import { useDevice } from '../../shared/services.ts';
import { useAsk } from '../../shared/use-query.ts';
import { DATASET_TEXT, exportName } from './flame-labels.ts';
import type { FlameQuery } from './flame-query.ts';

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
    title: 'Folded stacks, one per line, for flamegraph.pl and similar tools',
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

/** The same figures for other programs. */
export function FlameDownloads({ query }: { readonly query: FlameQuery }) {
  const { info, device } = useDevice();
  const ask = useAsk();
  const flame = useView((view) => view.flame);
  const [failure, setFailure] = useState<string>();
  const fileName = exportName(info.file.name, flame, device);
  const save = async ({ format, extension, mime }: FlameFile) => {
    setFailure(undefined);
    try {
      const name = `${info.file.name}, ${DATASET_TEXT[flame.dataset]}`;
      const text = await ask('flameExport', { ...query, format, name });
      downloadText(`${fileName}.${extension}`, mime, text);
    } catch (error) {
      setFailure(errorText(error));
    }
  };
  return (
    <span className="inline-row flame-downloads">
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

import { Info } from 'lucide-react';
import { useId } from 'react';
import { formatExactBytes } from '../../core/base/format.ts';
import type { SessionInfo } from '../../core/device/types.ts';
import { settingText } from '../../core/memory-summary/settings.ts';
import { Fact } from '../shared/fact.tsx';

/** The file's name and size; more of it, and the allocator's settings, in a popover. */
export function FileFacts({ info }: { readonly info: SessionInfo }) {
  const { file } = info;
  const id = useId();
  return (
    <div className="file-facts">
      <span className="file-name" title={file.name}>
        {file.name}
      </span>
      <span className="dim">{fileSize(file.bytes)}</span>
      <button
        type="button"
        className="icon-button"
        popoverTarget={id}
        aria-label="About this file"
        title="About this file"
      >
        <Info size={15} aria-hidden />
      </button>
      <div id={id} popover="auto" className="popover">
        <h2 className="popover-title">File</h2>
        <dl className="facts">
          <Fact term="Size">{formatExactBytes(file.bytes)}</Fact>
          <Fact term="Container">{file.container}</Fact>
          <Fact term="Pickle protocol">{file.protocol ?? 'none'}</Fact>
          <Fact term="Read by">
            {file.decoder === 'columnar' ? 'columnar decoder' : 'general decoder'}
          </Fact>
          {file.partial !== undefined && <Fact term="Partial">{file.partial}</Fact>}
        </dl>
        <h2 className="popover-title">Allocator settings</h2>
        <Settings settings={info.settings} />
      </div>
    </div>
  );
}

function Settings({ settings }: { readonly settings: SessionInfo['settings'] }) {
  const entries = Object.entries(settings);
  if (entries.length === 0) return <p className="dim">The file says nothing of them.</p>;
  return (
    <dl className="facts">
      {entries.map(([name, value]) => (
        <Fact key={name} term={name}>
          {settingText(value)}
        </Fact>
      ))}
    </dl>
  );
}

/** Decimal, as file managers say it: '19.8 MB'. */
function fileSize(bytes: number): string {
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}

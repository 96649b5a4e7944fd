import './source.css';
import { FolderOpen } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useStore } from 'zustand';
import { errorText } from '../../../base/errors.ts';
import { fileName } from '../../../base/file-names.ts';
import { formatBytes, formatExactBytes, plural } from '../../../base/format.ts';
import type { SourceLine } from '../../../device/lists/source-lines.ts';
import type { FrameView } from '../../../device/model/types.ts';
import { quoteText } from '../../../device/search/qualifier.ts';
import { SourceFolder } from '../../../state/source-folder.ts';
import { useStores } from '../../../state/stores.ts';
import { Button, CopyButton, Dialog } from '../../shared/buttons.tsx';
import { useQuery } from '../../shared/use-query.ts';
import { EditorForm } from './editor-form.tsx';

interface SourceDialogProps {
  /** Whose file is shown, scrolled to its line. */
  readonly frame: FrameView;
  readonly onClose: () => void;
}

/** A file of the program: each line with what it allocates, holds at the peak, and keeps. */
export function SourceDialog({ frame, onClose }: SourceDialogProps) {
  const { filename } = frame;
  const { value: lines, failure } = useQuery('sourceLines', { filename });
  const source = useSourceText(filename);
  return (
    <Dialog title={fileName(filename)} isOpen onClose={onClose} className="source-dialog">
      <CopyButton text={filename} label="the path" className="dim mono source-path">
        <span>{filename}</span>
      </CopyButton>
      <EditorForm frame={frame} />
      <SourceNote filename={filename} {...source} />
      {failure !== undefined && <p className="notice">The lines could not be counted: {failure}</p>}
      {lines !== undefined && (
        <Lines frame={frame} lines={lines} text={source.text} onFiltered={onClose} />
      )}
    </Dialog>
  );
}

interface SourceText {
  /** Undefined until read, or without a file. */
  readonly text?: readonly string[];
  readonly path?: string;
  readonly failure?: string;
}

function useSourceText(filename: string): SourceText {
  const { source } = useStores();
  const folder = useStore(source, (state) => state.folder);
  const file = useMemo(() => folder?.find(filename), [folder, filename]);
  const [read, setRead] = useState<SourceText>({});
  useEffect(() => {
    setRead({});
    if (file === undefined) return;
    const { path } = file;
    let show = setRead;
    file.text().then(
      (text) => show({ path, text: text.split(/\r?\n/) }),
      (error: unknown) => show({ path, failure: errorText(error) }),
    );
    return () => {
      show = () => undefined;
    };
  }, [file]);
  return read;
}

/** Where the text is from, or how to show it. */
function SourceNote({ filename, path, failure }: SourceText & { readonly filename: string }) {
  const { source: store } = useStores();
  const folder = useStore(store, (state) => state.folder);
  const input = useRef<HTMLInputElement>(null);
  const textOf = ({ name }: SourceFolder): string => {
    if (failure !== undefined) return `${path} could not be read: ${failure}`;
    if (path !== undefined)
      return `This is the text of ${path}. It may have changed since the recording.`;
    return `${name} has no ${fileName(filename)}, or several that could be it.`;
  };
  return (
    <div className="row source-note">
      <Button icon={FolderOpen} onClick={() => input.current?.click()}>
        {folder === undefined ? 'Choose the folder of your code…' : 'Another folder…'}
      </Button>
      <span className="dim" role="status">
        {folder === undefined
          ? 'to see its text here. It is read on this machine only.'
          : textOf(folder)}
      </span>
      <input
        ref={input}
        type="file"
        hidden
        aria-label="Folder of your code"
        {...{ webkitdirectory: '' }}
        onChange={({ currentTarget }) => store.setState({ folder: chosenFolder(currentTarget) })}
      />
    </div>
  );
}

function chosenFolder({ files }: HTMLInputElement): SourceFolder {
  const chosen = [...(files ?? [])].map((file) => ({
    path: file.webkitRelativePath,
    size: file.size,
    text: () => file.text(),
  }));
  return new SourceFolder(chosen[0]?.path.split('/')[0] ?? 'The folder', chosen);
}

/** The browser lays out only the groups in sight. */
const GROUP_LINES = 100;

interface LinesProps {
  readonly frame: FrameView;
  readonly lines: readonly SourceLine[];
  readonly text: readonly string[] | undefined;
  readonly onFiltered: () => void;
}

function Lines({ frame, lines, text, onFiltered }: LinesProps) {
  const shown = useMemo(() => shownLines(lines, text), [lines, text]);
  const table = useRef<HTMLTableElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text moves the line
  useEffect(() => {
    table.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'center' });
  }, [shown, frame]);
  const most = Math.max(1, ...lines.map(({ allocatedBytes }) => allocatedBytes));
  const mostLive = Math.max(
    1,
    ...lines.flatMap(({ peakBytes, endBytes }) => [peakBytes, endBytes]),
  );
  const groups = Math.ceil(shown.length / GROUP_LINES);
  if (shown.length === 0) {
    return <p className="dim">No allocation of this device was made by a line of this file.</p>;
  }
  return (
    <table
      ref={table}
      className="source-lines mono"
      aria-label={`Lines of ${fileName(frame.filename)}`}
    >
      <thead className="source-head">
        <tr className="source-line">
          {['Line', 'Allocates', 'At the peak', 'At the end', 'Code'].map((label) => (
            <th key={label} scope="col">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      {Array.from({ length: groups }, (_, group) => (
        <tbody key={shown[group * GROUP_LINES]?.line} className="source-group">
          {shown.slice(group * GROUP_LINES, (group + 1) * GROUP_LINES).map((row) => (
            <Line
              key={row.line}
              row={row}
              most={[most, mostLive]}
              frame={frame}
              onFiltered={onFiltered}
            />
          ))}
        </tbody>
      ))}
    </table>
  );
}

interface ShownLine {
  readonly line: number;
  /** Without a text, the function. */
  readonly code: string;
  readonly isText: boolean;
  readonly sums: SourceLine | undefined;
}

/** All lines of the text and those beyond it; without a text, those that hold something. */
function shownLines(
  lines: readonly SourceLine[],
  text: readonly string[] | undefined,
): ShownLine[] {
  if (text === undefined)
    return lines.map((sums) => ({ line: sums.line, code: `in ${sums.name}`, isText: false, sums }));
  const sumsOf = new Map(lines.map((sums) => [sums.line, sums]));
  const last = Math.max(text.length, lines.at(-1)?.line ?? 0);
  return Array.from({ length: last }, (_, index) => ({
    line: index + 1,
    code: text[index] ?? '',
    isText: true,
    sums: sumsOf.get(index + 1),
  }));
}

interface LineProps extends Pick<LinesProps, 'onFiltered'> {
  readonly row: ShownLine;
  /** The largest of all lines: allocated, and live. */
  readonly most: readonly [allocated: number, live: number];
  readonly frame: FrameView;
}

function Line({ row, most: [mostAllocated, mostLive], frame, onFiltered }: LineProps) {
  const { view } = useStores();
  const { line, code, isText, sums } = row;
  const filter = () => {
    view.commit({ search: quoteText(`${frame.filename}:${line}`) });
    onFiltered();
  };
  return (
    <tr className="source-line" aria-current={line === frame.line ? 'location' : undefined}>
      <th scope="row" className="dim">
        {sums === undefined ? (
          line
        ) : (
          <Button
            className="source-number"
            title={`Show only the ${plural(sums.allocations, 'allocation')} of line ${line}, in all views`}
            onClick={filter}
          >
            {line}
          </Button>
        )}
      </th>
      <Amount bytes={sums?.allocatedBytes} most={mostAllocated} />
      <Amount bytes={sums?.peakBytes} most={mostLive} />
      <Amount bytes={sums?.endBytes} most={mostLive} />
      <td>
        <code className={isText ? undefined : 'dim'}>{code}</code>
      </td>
    </tr>
  );
}

/** Bytes over a bar; nothing where a line has none. */
function Amount({
  bytes = 0,
  most,
}: {
  readonly bytes: number | undefined;
  readonly most: number;
}) {
  if (bytes === 0) return <td />;
  return (
    <td
      className="source-amount"
      title={formatExactBytes(bytes)}
      style={{ backgroundSize: `${(100 * bytes) / most}% 100%` }}
    >
      {formatBytes(bytes)}
    </td>
  );
}

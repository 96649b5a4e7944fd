import './source.css';
import { FolderOpen } from 'lucide-react';
import { useEffect, useMemo, useRef } from 'react';
import { useStore } from 'zustand';
import { fileName } from '../../../base/file-names.ts';
import { formatBytes, formatExactBytes, plural } from '../../../base/format.ts';
import type { SourceLine } from '../../../device/lists/source-lines.ts';
import type { CodeLines } from '../../../device/model/source-code.ts';
import { SourceFolder } from '../../../device/model/source-folder.ts';
import type { FrameView } from '../../../device/model/types.ts';
import { quoteText } from '../../../device/search/qualifier.ts';
import { useStores } from '../../../state/stores.ts';
import { Button, CopyButton, Dialog } from '../../shared/buttons.tsx';
import {
  CodeLine,
  type SourceCode,
  useCodeLines,
  useSourceCode,
} from '../../shared/source-code.tsx';
import { Term } from '../../shared/term.tsx';
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
  const code = useSourceCode(filename);
  const text = useCodeLines(code);
  return (
    <Dialog title={fileName(filename)} isOpen onClose={onClose} className="source-dialog">
      <CopyButton text={filename} label="the path" className="dim mono source-path">
        <span>{filename}</span>
      </CopyButton>
      <EditorForm frame={frame} />
      <SourceNote code={code} />
      {failure !== undefined && <p className="notice">The lines could not be counted: {failure}</p>}
      {lines !== undefined && (
        <Lines frame={frame} lines={lines} text={text} onFiltered={onClose} />
      )}
    </Dialog>
  );
}

/** Where the text is from, or how to show it. */
function SourceNote({ code }: { readonly code: SourceCode | undefined }) {
  const { source: store } = useStores();
  const folder = useStore(store, (state) => state.folder);
  const input = useRef<HTMLInputElement>(null);
  const isNeeded = folder === undefined && code?.text === undefined;
  return (
    <div className="row source-note">
      <Button icon={FolderOpen} onClick={() => input.current?.click()}>
        {folder === undefined ? 'Choose the folder of your code…' : 'Another folder…'}
      </Button>
      <span className="dim" role="status">
        {isNeeded && 'to see its text here. It is read on this machine only. '}
        {code?.note}
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
    bytes: async () => new Uint8Array(await file.arrayBuffer()),
  }));
  return new SourceFolder(chosen[0]?.path.split('/')[0] ?? 'The folder', chosen);
}

/** The browser lays out only the groups in sight. */
const GROUP_LINES = 100;

interface LinesProps {
  readonly frame: FrameView;
  readonly lines: readonly SourceLine[];
  readonly text: CodeLines | undefined;
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
          {Object.entries(HEADINGS).map(([label, about]) => (
            <th key={label} scope="col">
              {about === undefined ? label : <Term about={about}>{label}</Term>}
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

const HEADINGS: Readonly<Record<string, string | undefined>> = {
  Line: undefined,
  'Allocated in all':
    'All that this line, and what it called, allocated over the whole recording, freed or not. A line that calls backward() or autograd.grad() has nothing of what backward allocates: autograd does that in threads of its own, and their stacks do not say who called it.',
  'At the peak': 'How much of it was live when the most memory was in use',
  'At the end': 'How much of it was live at the end: what the line keeps',
  Code: undefined,
};

interface ShownLine {
  readonly line: number;
  /** The function if the text is unknown. */
  readonly code: string;
  readonly isText: boolean;
  /** The text of the lines before it is unknown. */
  readonly isAfterGap: boolean;
  readonly sums: SourceLine | undefined;
}

/** All lines of the text, and those that hold something. */
function shownLines(lines: readonly SourceLine[], text: CodeLines = new Map()): ShownLine[] {
  const sumsOf = new Map(lines.map((sums) => [sums.line, sums]));
  const numbers = [...new Set([...text.keys(), ...sumsOf.keys()])].sort((a, b) => a - b);
  return numbers.map((line, i) => {
    const [code, sums] = [text.get(line), sumsOf.get(line)];
    const isAfterGap = text.size > 0 && i > 0 && numbers[i - 1] !== line - 1;
    return { line, code: code ?? `in ${sums?.name}`, isText: code !== undefined, isAfterGap, sums };
  });
}

interface LineProps extends Pick<LinesProps, 'onFiltered'> {
  readonly row: ShownLine;
  /** The largest of all lines: allocated, and live. */
  readonly most: readonly [allocated: number, live: number];
  readonly frame: FrameView;
}

function Line({ row, most: [mostAllocated, mostLive], frame, onFiltered }: LineProps) {
  const { view } = useStores();
  const { line, code, isText, isAfterGap, sums } = row;
  const filter = () => {
    view.commit({ search: quoteText(`${frame.filename}:${line}`) });
    onFiltered();
  };
  return (
    <tr
      className="source-line"
      data-after-gap={isAfterGap || undefined}
      aria-current={line === frame.line ? 'location' : undefined}
    >
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
        <code className={isText ? undefined : 'dim'}>
          <CodeLine code={code} />
        </code>
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

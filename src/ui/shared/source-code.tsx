import './source-code.css';
import { type ReactNode, useCallback, useMemo } from 'react';
import { useStore } from 'zustand';
import { errorText } from '../../base/errors.ts';
import { fileName } from '../../base/file-names.ts';
import { frameLocation } from '../../device/model/frame-text.ts';
import { keepingLines } from '../../device/model/keeping-lines.ts';
import { type CodeLines, codeLines, linesAround } from '../../device/model/source-code.ts';
import {
  type FolderFile,
  folderText,
  type SourceFolder,
} from '../../device/model/source-folder.ts';
import type { FrameView } from '../../device/model/types.ts';
import type { SourceText } from '../../format/snapshot/tables.ts';
import { useStores } from '../../state/stores.ts';
import { breakable } from './facts.tsx';
import { FrameLink, FrameLinks } from './frame-links.tsx';
import { type AskDevice, useAsk, useComposedQuery } from './use-query.ts';

export interface SourceCode {
  readonly text: SourceText | undefined;
  /** Where the text is from, and whether it is what ran; or why there is none. '' without a folder and a recorded text. */
  readonly note: string;
}

/** A file's text: the recorded one, else that of the folder; with what is known of the other. */
export async function sourceCode(
  ask: AskDevice,
  folder: SourceFolder | undefined,
  filename: string,
): Promise<SourceCode> {
  const { text: recorded, missing } = await ask('sourceText', { filename });
  const file = folder?.find(filename);
  const found = file && (await folderText(file, filename).catch((error) => errorText(error)));
  const without = missing === undefined ? '' : `The recording does not have it: ${missing}. `;
  if (file === undefined || found === undefined) {
    const none =
      folder && `${folder.name} has no ${fileName(filename)}, or several that could be it.`;
    return { text: recorded, note: recorded ? originOf(recorded) : `${without}${none ?? ''}` };
  }
  if (typeof found === 'string') {
    const failed = `${file.path} could not be read: ${found}.`;
    return { text: recorded, note: `${recorded ? originOf(recorded) : without} ${failed}`.trim() };
  }
  if (recorded === undefined) {
    const note = `This is the text of ${file.path}. It may have changed since the recording.`;
    return { text: found, note: without + note };
  }
  const isSame = found.sha256 === recorded.sha256;
  return {
    text: isSame ? { ...recorded, isWhole: true, pieces: found.pieces } : recorded,
    note: `${originOf(recorded)} ${comparison(recorded, found, file)}`,
  };
}

function originOf({ origin, isWhole, isChanged }: SourceText): string {
  const part = isWhole ? '' : ' The report holds only lines around those that its findings name.';
  if (origin === 'folder') {
    return `From a folder when the report was made, so it may not be what ran.${part}`;
  }
  return isChanged === true
    ? `Recorded with the run, but changed while the program ran: it may not be what ran.${part}`
    : `Recorded with the run.${part}`;
}

function comparison({ sha256, origin }: SourceText, found: SourceText, { path }: FolderFile) {
  if (found.sha256 === '') return `This page can't check whether ${path} is the same.`;
  if (found.sha256 === sha256) return `${path} is the same.`;
  return `${path} has changed since the ${origin === 'recording' ? 'recording' : 'report'}.`;
}

/** Undefined until read. */
export function useSourceCode(filename: string | undefined): SourceCode | undefined {
  const { source } = useStores();
  const folder = useStore(source, (state) => state.folder);
  const ask = useAsk();
  const fetch = useCallback(
    (wanted: { readonly filename: string }) => sourceCode(ask, folder, wanted.filename),
    [ask, folder],
  );
  const request = useMemo(() => (filename === undefined ? undefined : { filename }), [filename]);
  const { value, isCurrent } = useComposedQuery(fetch, request);
  return isCurrent ? value : undefined;
}

export function useCodeLines(code: SourceCode | undefined): CodeLines | undefined {
  const text = code?.text;
  return useMemo(() => text && codeLines(text.pieces), [text]);
}

/** A line of code, which breaks at arguments and calls: 'torch.tensor(|table, |dtype=torch.long)|.cuda(|)'. */
export const CodeLine = ({ code }: { readonly code: string }): ReactNode =>
  breakable(code, /(?<=[\w\])][([{,])(?=\S)|(?<=[)\]])(?=\.\w)/);

/** A narrow column has no room for arguments below their bracket, 40 spaces in. */
const lessIndented = (code: string): string => code.replace(/^ {9,}/, ' '.repeat(8));

/** Lines before and after. */
const AROUND = 2;

/** A frame's line among those around it, where its text is known. */
export function CodeExcerpt({ frame }: { readonly frame: FrameView }) {
  const code = useSourceCode(frame.kind === 'cpp' ? undefined : frame.filename);
  const lines = useCodeLines(code);
  const shown = lines && linesAround(lines, frame.line, AROUND);
  if (shown === undefined || shown.length === 0) return undefined;
  return (
    <ol
      className="code-excerpt mono"
      aria-label={`Code at ${frameLocation(frame)}`}
      title={code?.note}
    >
      {shown.map(({ line, code }) => (
        <li key={line} value={line} aria-current={line === frame.line ? 'location' : undefined}>
          <span className="dim">{line}</span>
          <code>
            <CodeLine code={lessIndented(code)} />
          </code>
        </li>
      ))}
    </ol>
  );
}

/** The lines of its function that may hold what a frame's line made, where the text is known. */
export function MayBeHeld({
  frame,
  isGraph,
}: {
  readonly frame: FrameView;
  readonly isGraph: boolean;
}) {
  const lines = useCodeLines(useSourceCode(frame.kind === 'cpp' ? undefined : frame.filename));
  const found = useMemo(
    () => (lines === undefined ? [] : keepingLines(lines, frame.line, isGraph)),
    [lines, frame.line, isGraph],
  );
  return found.map(({ line, code }) => {
    const holder = { ...frame, line };
    return (
      <div key={line} className="row may-be-held">
        <span title="By the names in its text. The recording does not say who holds the tensors.">
          May be held by <FrameLink frame={holder} label={frameLocation(holder) ?? ''} />{' '}
          <code>
            <CodeLine code={code} />
          </code>
        </span>
        <FrameLinks frame={holder} />
      </div>
    );
  });
}

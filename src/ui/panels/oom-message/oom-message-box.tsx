import { useEffect, useId, useRef, useState } from 'react';
import {
  HOW_TO_RECORD,
  type OomMessageResult,
  readOomMessage,
} from '../../../analysis/findings/oom-message.ts';
import { VerdictCard } from '../../shared/verdict-card.tsx';
import { CodeToCopy } from '../recipes/record-recipes.tsx';

export function OomMessageBox() {
  const [text, setText] = useState('');
  const id = useId();
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => box.current?.focus(), []);
  const result = text.trim() === '' ? undefined : readOomMessage(text);
  return (
    <div className="column">
      <label htmlFor={id} className="dim">
        Paste the whole message, including the traceback. Nothing is sent.
      </label>
      <textarea
        ref={box}
        id={id}
        rows={5}
        spellCheck={false}
        placeholder="torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has …"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {result !== undefined && <Result result={result} />}
    </div>
  );
}

function Result({ result }: { readonly result: OomMessageResult }) {
  const shown = shownOf(result);
  const tone = result.status === 'read' ? 'severe' : 'unknown';
  return (
    <>
      <VerdictCard verdict={{ tone, ...shown, advice: [] }} />
      {result.status === 'read' && (
        <>
          <h4>The arithmetic</h4>
          <ul>{result.verdict.arithmetic.map(item)}</ul>
          <h4>What to try</h4>
          <ol className="advice">{result.verdict.advice.map(item)}</ol>
        </>
      )}
      <h4>Which line, and what filled the memory</h4>
      <p className="dim">
        The message does not name a line of code. Record a snapshot and open it here:
      </p>
      <CodeToCopy code={HOW_TO_RECORD} label="how to record" />
    </>
  );
}

const item = (text: string) => <li key={text}>{text}</li>;

function shownOf(result: OomMessageResult): { readonly text: string; readonly also: string[] } {
  if (result.status === 'incomplete') {
    const text = `This is an out-of-memory message, but it does not say ${listed(result.missing)}.`;
    return { text, also: [result.note] };
  }
  if (result.status !== 'read') {
    return { text: 'This isn’t a PyTorch out-of-memory message.', also: [OTHER_MESSAGES] };
  }
  const { verdict, message, count } = result;
  const device = message.device === undefined ? '' : `, of GPU ${message.device}`;
  const more =
    count > 1 ? `The text has ${count} such messages. This is the first${device}.` : undefined;
  return { text: verdict.text, also: [verdict.also ?? [], more ?? []].flat() };
}

const OTHER_MESSAGES =
  'PyTorch’s message says “CUDA out of memory. Tried to allocate … GiB” (or HIP, XPU, MPS), or “Allocation on device 0 would exceed allowed memory”. Messages from NCCL, cuDNN or the system’s OOM killer look different.';

/** 'a, b and c' */
const listed = (names: readonly string[]): string => new Intl.ListFormat('en-GB').format(names);

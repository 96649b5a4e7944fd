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
  if (result.status === 'read') return <Verdict {...result} />;
  const [text, about] =
    result.status === 'incomplete'
      ? [
          `This is an out-of-memory message, but it does not say ${listed(result.missing)}.`,
          result.note,
        ]
      : ['This isn’t a PyTorch out-of-memory message.', OTHER_MESSAGES];
  return (
    <>
      <VerdictCard verdict={{ tone: 'unknown', text, also: [about], advice: [] }} />
      <HowToRecord />
    </>
  );
}

const OTHER_MESSAGES =
  'PyTorch’s message says “CUDA out of memory. Tried to allocate … GiB” (or HIP, XPU, MPS), or “Allocation on device 0 would exceed allowed memory”. Messages from NCCL, cuDNN or the system’s OOM killer look different.';

function Verdict({ verdict, message, count }: Extract<OomMessageResult, { status: 'read' }>) {
  const { text, arithmetic, advice } = verdict;
  const also = verdict.also === undefined ? [] : [verdict.also];
  if (count > 1) {
    const device = message.device === undefined ? '' : `, of GPU ${message.device}`;
    also.push(`The text has ${count} such messages. This is the first${device}.`);
  }
  return (
    <>
      <VerdictCard verdict={{ tone: 'severe', text, also, advice: [] }} />
      <h4>The arithmetic</h4>
      <ul>{arithmetic.map(item)}</ul>
      <h4>What to try</h4>
      <ol className="advice">{advice.map(item)}</ol>
      <HowToRecord />
    </>
  );
}

const item = (text: string) => <li key={text}>{text}</li>;

function HowToRecord() {
  return (
    <>
      <h4>Which line, and what filled the memory</h4>
      <p className="dim">
        The message does not name a line of code. Record a snapshot and open it here:
      </p>
      <CodeToCopy code={HOW_TO_RECORD} label="how to record" />
    </>
  );
}

/** 'a, b and c' */
const listed = (names: readonly string[]): string => new Intl.ListFormat('en-GB').format(names);

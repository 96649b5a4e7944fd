import { Fragment, type ReactNode } from 'react';
import { formatBytes, formatExactBytes } from '../../base/format.ts';
import { Term } from './term.tsx';

interface BytesProps {
  readonly bytes: number;
  readonly as?: 'span' | 'strong' | 'b' | 'td';
}

export function Bytes({ bytes, as: Tag = 'span' }: BytesProps) {
  return <Tag title={formatExactBytes(bytes)}>{formatBytes(bytes)}</Tag>;
}

interface FactProps {
  readonly term: ReactNode;
  readonly title?: string | undefined;
  /** What the term means. */
  readonly about?: string;
  readonly children: ReactNode;
}

export function Fact({ term, title, about, children }: FactProps) {
  return (
    <div title={title}>
      <dt>{about === undefined ? term : <Term about={about}>{term}</Term>}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface BlankProps {
  readonly title: string;
  readonly text?: ReactNode;
  readonly isAlert?: boolean;
  readonly children?: ReactNode;
}

/** In place of a view that has nothing to draw: why, and what to do. */
export function Blank({ title, text, isAlert, children }: BlankProps) {
  return (
    <div className="blank" role={isAlert ? 'alert' : undefined}>
      <h2>{title}</h2>
      {text !== undefined && <p>{text}</p>}
      {children}
    </div>
  );
}

/** The head of a plain table; '' is a cell without a heading. */
export function TableHead({ labels }: { readonly labels: readonly string[] }) {
  return (
    <thead>
      <tr>
        {labels.map((label) =>
          label === '' ? (
            <td key={label} />
          ) : (
            <th key={label} scope="col">
              {label}
            </th>
          ),
        )}
      </tr>
    </thead>
  );
}

/** A sentence with code. Long names may break between words: 'PYTORCH_CUDA_ALLOC_CONF=|expandable_|segments:True'. */
export const CodeText = ({ text }: { readonly text: string }) =>
  breakable(text, /(?<=[\w)][=_.:])(?=\w)/);

/** Text that may break at some places. */
export function breakable(text: string, at: RegExp): ReactNode {
  return text.split(at).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other identity
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}

import type { ReactNode } from 'react';

interface FactProps {
  readonly term: string;
  readonly title?: string | undefined;
  readonly children: ReactNode;
}

/** A term and what is known of it: a row of a <dl>. */
export function Fact({ term, title, children }: FactProps) {
  return (
    <div title={title}>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  );
}

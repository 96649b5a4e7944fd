import type { ReactNode } from 'react';

interface SectionHeadProps {
  readonly title: string;
  readonly children?: ReactNode;
}

/** The name of a section and what can be done in it. */
export function SectionHead({ title, children }: SectionHeadProps) {
  return (
    <div className="row summary-head">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Stands where an answer is awaited, or could not be had. */
export function Unanswered({ failure }: { readonly failure: string | undefined }) {
  if (failure === undefined) {
    return (
      <p className="dim" aria-busy>
        Counting…
      </p>
    );
  }
  return (
    <p className="callout summary-caution" data-tone="warning" role="alert">
      This could not be worked out: {failure} Open the file again.
    </p>
  );
}

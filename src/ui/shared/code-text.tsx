import { Fragment } from 'react';

/**
 * A sentence with names of code in it, which breaks between their words where it has to break in one:
 * 'PYTORCH_CUDA_ALLOC_CONF=|expandable_|segments:True'.
 */
export function CodeText({ text }: { readonly text: string }) {
  return text.split(/(?<=[\w)][=_.:])(?=\w)/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other identity
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}

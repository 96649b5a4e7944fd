import type { ComponentProps } from 'react';

interface IconButtonProps extends ComponentProps<'button'> {
  readonly label: string;
}

/** A button that is only an icon: its label is for screen readers, and where no `title` says more, for all. */
export function IconButton({ label, ...props }: IconButtonProps) {
  return (
    <button type="button" className="icon-button" aria-label={label} title={label} {...props} />
  );
}

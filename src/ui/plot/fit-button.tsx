import { Maximize2 } from 'lucide-react';

export function FitButton({ onFit }: { readonly onFit: () => void }) {
  return (
    <button type="button" className="button" title="Show the whole trace (F)" onClick={onFit}>
      <Maximize2 size={13} aria-hidden />
      Fit
    </button>
  );
}

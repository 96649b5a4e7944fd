import { ChevronRight } from 'lucide-react';
import type { FlameStep } from '../../core/flame-graph/types.ts';
import { groupLabel, groupPlace } from './flame-labels.ts';

interface FlameTrailProps {
  readonly trail: readonly FlameStep[];
  /** Undefined: the whole. */
  readonly onZoom: (path: string | undefined) => void;
}

/** More steps than these do not fit; the ones left out are behind a button each. */
const STEPS_SHOWN = 4;

/** The way back from what is zoomed into. */
export function FlameTrail({ trail, onZoom }: FlameTrailProps) {
  // A line of its own also where it has no steps: zooming must not move what is pointed at.
  if (trail.length === 0) {
    return <p className="flame-trail">Click a box to zoom into it; arrow keys and Enter do too.</p>;
  }
  const left = Math.max(0, trail.length - STEPS_SHOWN);
  const lastLeft = trail[left - 1];
  return (
    <nav className="flame-trail" aria-label="Zoomed into">
      <button type="button" className="flame-step" onClick={() => onZoom(undefined)}>
        All
      </button>
      {lastLeft !== undefined && (
        <>
          <ChevronRight size={12} aria-hidden />
          <button
            type="button"
            className="flame-step"
            title={`${groupLabel(lastLeft.group)} ${groupPlace(lastLeft.group)}`}
            aria-label={`Up to ${groupLabel(lastLeft.group)}`}
            onClick={() => onZoom(lastLeft.path)}
          >
            … {left} more
          </button>
        </>
      )}
      {trail.slice(left).map(({ group, path }, index, shown) => (
        <span key={path} className="flame-step-place">
          <ChevronRight size={12} aria-hidden />
          <button
            type="button"
            className="flame-step"
            title={`${groupLabel(group)} ${groupPlace(group)}`}
            aria-current={index === shown.length - 1 ? 'true' : undefined}
            onClick={() => onZoom(path)}
          >
            {groupLabel(group)}
          </button>
        </span>
      ))}
    </nav>
  );
}

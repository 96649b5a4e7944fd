import { CircleCheck, CircleDashed, CircleHelp, Lightbulb, Search } from 'lucide-react';
import { formatBytes } from '../../core/base/format.ts';
import type { ChecklistItem } from '../../core/findings/checklist.ts';
import type { Finding } from '../../core/findings/detectors.ts';

const STATES: Readonly<
  Record<ChecklistItem['status'], { readonly word: string; readonly icon: typeof Search }>
> = {
  found: { word: 'found', icon: Search },
  clear: { word: 'clear', icon: CircleCheck },
  'cannot-tell': { word: 'cannot tell', icon: CircleHelp },
  waiting: { word: 'not checked yet', icon: CircleDashed },
};

interface CheckListProps {
  readonly items: readonly ChecklistItem[];
  readonly onChoose: (finding: Finding) => void;
}

/** Everything that is looked at, in the order in which a person would, and what came of it. */
export function CheckList({ items, onChoose }: CheckListProps) {
  return (
    <ul aria-label="Checks">
      {items.map((item) => (
        <CheckItem key={item.label} item={item} onChoose={onChoose} />
      ))}
    </ul>
  );
}

interface CheckItemProps {
  readonly item: ChecklistItem;
  readonly onChoose: (finding: Finding) => void;
}

function CheckItem({ item, onChoose }: CheckItemProps) {
  const { label, status, text, savedBytes, findings } = item;
  const { word, icon } = STATES[status];
  const isIdea = savedBytes !== undefined;
  const Icon = isIdea ? Lightbulb : icon;
  const [first] = findings;
  return (
    <li className="check" data-status={isIdea ? 'idea' : status}>
      <Icon size={14} aria-hidden />
      <div>
        <p>
          {first === undefined ? (
            <span>{label}</span>
          ) : (
            <button
              type="button"
              className="link"
              title="Show the finding"
              onClick={() => onChoose(first)}
            >
              {label}
            </button>
          )}
          <span className="check-state dim small">
            {isIdea ? `could save ${formatBytes(savedBytes)}` : word}
          </span>
        </p>
        {text !== '' && <p className="dim">{text}</p>}
      </div>
    </li>
  );
}

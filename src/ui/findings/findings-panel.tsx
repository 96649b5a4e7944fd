import './findings.css';
import { useRef } from 'react';
import type { SessionInfo } from '../../core/device/types.ts';
import { checklist } from '../../core/findings/checklist.ts';
import type { RankedFinding } from '../../core/findings/ranked-findings.ts';
import { type Verdict, verdictOf } from '../../core/findings/verdict.ts';
import { OomMessageLink } from '../oom-message/oom-message-link.tsx';
import { useDevice, useFindings } from '../shared/device-context.ts';
import { VerdictCard } from '../shared/verdict-card.tsx';
import { CheckList } from './check-list.tsx';
import { CopyFindings } from './copy-findings.tsx';
import { FindingCard } from './finding-card.tsx';
import { Failed, Missing, Progress } from './run-status.tsx';
import { useEscape } from './use-escape.ts';
import { useFindingSelection } from './use-finding-selection.ts';

const STOPPED: Verdict = {
  tone: 'unknown',
  text: 'Stopped before anything could be told.',
  also: [],
  advice: [],
  findings: [],
};

/** What went wrong, where and what to try: the first thing one sees of a snapshot. */
export function FindingsPanel() {
  const { info } = useDevice();
  const state = useFindings();
  const { phase, findings, checks } = state;
  const { selected, toggle, choose, leave } = useFindingSelection(findings);
  const panel = useRef<HTMLElement>(null);
  useEscape(panel, selected === undefined ? undefined : leave);
  const citing = findings.find(mayCite);
  const verdict = verdictOf({ findings, checks }) ?? (phase === 'stopped' ? STOPPED : undefined);
  const isOpen = phase !== 'done' && phase !== 'failed';
  return (
    <section
      ref={panel}
      className="findings"
      data-testid="findings"
      aria-label="Findings"
      aria-busy={phase === 'running' || phase === 'waiting'}
    >
      {phase !== 'failed' && <VerdictCard verdict={verdict} />}
      {phase === 'failed' && <Failed state={state} />}
      <Missing state={state} wanted={selected} />
      <ul className="finding-list" aria-label="Findings, the most severe first">
        {findings.map((finding) => (
          <FindingCard
            key={finding.id}
            finding={finding}
            isSelected={finding.id === selected}
            citesWhatIf={phase === 'done' && finding === citing}
            isAdvised={finding !== verdict?.findings[0]}
            onToggle={() => toggle(finding)}
          />
        ))}
      </ul>
      {isOpen && <Progress state={state} />}
      {phase === 'done' && <CopyFindings state={state} />}
      <h3 className="findings-heading">What was checked</h3>
      <CheckList
        items={checklist({ findings, checks }, factsOf(info))}
        onChoose={(finding) => {
          const ranked = findings.find((one) => one === finding);
          if (ranked !== undefined) choose(ranked);
        }}
      />
      <OomMessageLink />
    </section>
  );
}

/** A setting of the allocator may mend what the allocator did: said once, on the most severe. */
function mayCite({ detector, severity }: RankedFinding): boolean {
  return severity !== 'low' && (detector === 'fragmentation' || detector === 'oom');
}

function factsOf({ settings }: SessionInfo) {
  const { expandable_segments: isExpandable } = settings;
  return { isExpandable: typeof isExpandable === 'boolean' ? isExpandable : undefined };
}

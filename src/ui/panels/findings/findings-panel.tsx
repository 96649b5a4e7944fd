import './findings.css';
import { Eye, EyeOff } from 'lucide-react';
import { useState } from 'react';
import type { RankedFinding } from '../../../analysis/findings/ranked-findings.ts';
import { buildFindings } from '../../../output/report/findings.ts';
import { findingsMarkdown } from '../../../output/report/findings-markdown.ts';
import { isCiting } from '../../../output/report/what-if-citation.ts';
import type { FindingsState } from '../../../state/findings-store.ts';
import { CopyButton } from '../../shared/buttons.tsx';
import { useDevice, useFindings } from '../../shared/services.ts';
import { VerdictCard } from '../../shared/verdict-card.tsx';
import { OomMessageLink } from '../oom-message/oom-message-link.tsx';
import { AccountPanel } from './account-panel.tsx';
import { partsOf } from './account-parts.ts';
import { FindingCard } from './finding-card.tsx';
import { CheckList, Failed, Missing, Progress } from './run-status.tsx';
import { useShowPart } from './use-account.ts';
import { useMarking } from './use-finding-highlights.ts';
import { useFindingSelection } from './use-finding-selection.ts';

const STOPPED = {
  tone: 'unknown',
  text: 'Stopped before there was a result.',
  also: [],
  advice: [],
} as const;

/** What went wrong, where, and what to try: the first thing users see of a snapshot. */
export function FindingsPanel() {
  const state = useFindings();
  const { phase, findings, checks, judgement } = state;
  const { selected, toggle, choose } = useFindingSelection(findings);
  // A setting may fix what the allocator did: said once, on the most severe finding.
  const citing = findings.find((finding) => finding.severity !== 'low' && isCiting(finding));
  const verdict = judgement?.verdict ?? (phase === 'stopped' ? STOPPED : undefined);
  const isOpen = phase !== 'done' && phase !== 'failed';
  const [isUnfolded, setIsUnfolded] = useState(false);
  const leadId = judgement?.verdict.finding;
  const lead = findings.find(({ fingerprint }) => fingerprint === leadId);
  const others = findings.filter((finding) => finding !== lead);
  const showPart = useShowPart();
  // If no finding covers the cause (a tensor replaced by larger ones, say), its account row shows it.
  const part =
    judgement &&
    partsOf(judgement.account, '').find(({ kind }) => kind === judgement.verdict.cause);
  const showRow = judgement && part && (() => void showPart(part, judgement.account.moment.event));
  const cardOf = (finding: RankedFinding) => (
    <FindingCard
      key={finding.id}
      finding={finding}
      isSelected={finding.id === selected}
      citesWhatIf={phase === 'done' && finding === citing}
      isLead={finding === lead}
      onToggle={() => toggle(finding)}
    />
  );
  return (
    <section
      className="findings"
      data-testid="findings"
      aria-label="Findings"
      aria-busy={phase === 'running' || phase === 'waiting'}
    >
      {phase !== 'failed' && (
        <VerdictCard
          verdict={verdict}
          folding={{ isUnfolded, onToggle: () => setIsUnfolded(!isUnfolded) }}
          onShow={lead ? () => choose(lead) : showRow}
        />
      )}
      {lead !== undefined && <MarkingButton />}
      {phase === 'failed' && <Failed state={state} />}
      <Missing state={state} wanted={selected} />
      {judgement !== undefined && <AccountPanel judgement={judgement} />}
      <ul className="finding-list" aria-label="Findings, the first to look at first">
        {lead !== undefined && cardOf(lead)}
        {others.length > 0 && <li className="finding-others dim small">Also found</li>}
        {others.map(cardOf)}
      </ul>
      {isOpen && <Progress state={state} />}
      {phase === 'done' && <CopyFindings state={state} />}
      <CheckList checks={checks} />
      <OomMessageLink />
    </section>
  );
}

/** Hides or shows the verdict's mark in the plots. */
function MarkingButton() {
  const [isOn, toggle] = useMarking();
  const Icon = isOn ? Eye : EyeOff;
  return (
    <button
      type="button"
      className="link finding-marking"
      aria-pressed={isOn}
      title={
        isOn
          ? 'Take the mark of this from the plots'
          : 'Mark what the verdict is about in the plots, while no finding is selected'
      }
      onClick={toggle}
    >
      <Icon size={13} aria-hidden /> {isOn ? 'Marked in the plots' : 'Not marked in the plots'}
    </button>
  );
}

function CopyFindings({ state }: { readonly state: FindingsState }) {
  const { info, device } = useDevice();
  const report = buildFindings(info.file, [device], [{ ...state, ...state.judgement }]);
  return (
    <CopyButton
      text={findingsMarkdown(report).join('\n')}
      label="all findings as Markdown"
      title="Copy all findings and checks as Markdown, for an issue or a chat"
      className="button"
    >
      Copy as Markdown
    </CopyButton>
  );
}

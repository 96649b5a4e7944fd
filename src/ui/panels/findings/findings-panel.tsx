import './findings.css';
import { Check as CheckMark, CircleHelp, Eye, EyeOff, type LucideIcon, Search } from 'lucide-react';
import { useState } from 'react';
import { mostText } from '../../../analysis/account/line-share.ts';
import { type Check, DETECTOR_IDS, detectorOf } from '../../../analysis/findings/detectors.ts';
import type { RankedFinding } from '../../../analysis/findings/ranked-findings.ts';
import { WHEN } from '../../../analysis/verdict/sentences.ts';
import { peakCheck, type Verdict } from '../../../analysis/verdict/types.ts';
import { formatCount, plural, sentenceCase } from '../../../base/format.ts';
import { buildFindings } from '../../../output/report/findings.ts';
import { findingsText } from '../../../output/report/findings-text.ts';
import { MARKDOWN } from '../../../output/report/text.ts';
import { citationText, cited, isCiting } from '../../../output/report/what-if-citation.ts';
import { Button, CopyButton } from '../../shared/buttons.tsx';
import { useAnalysis, useDevice, useFindings } from '../../shared/services.ts';
import { CodeExcerpt, MayBeHeld } from '../../shared/source-code.tsx';
import { VerdictCard } from '../../shared/verdict-card.tsx';
import { OomMessageLink } from '../oom-message/oom-message-link.tsx';
import { AccountPanel } from './account-panel.tsx';
import { partsOf, useShowPart, useShowVerdict } from './account-parts.ts';
import { useCitedRun } from './finding-body.tsx';
import { FindingCard } from './finding-card.tsx';
import { canHighlight, hasBlocks, useFindingSelection, useLeadHighlight } from './show-finding.ts';

const STOPPED = {
  tone: 'unknown',
  text: 'Stopped before there was a result.',
  also: [],
  advice: [],
} as const;

/** From the innermost line outward. */
const MAX_FUNCTIONS = 4;

/** Where the recording does not say who holds what is kept, the code may. */
function Holders({ verdict }: { readonly verdict: Verdict }) {
  const { cause, holder, lines } = verdict;
  if ((cause !== 'kept' && cause !== 'kept-graph') || holder !== undefined) return undefined;
  return lines
    .slice(0, MAX_FUNCTIONS)
    .map((frame) => (
      <MayBeHeld
        key={`${frame.filename}:${frame.line}`}
        frame={frame}
        isGraph={cause === 'kept-graph'}
      />
    ));
}

/** What went wrong, where, and what to try: the first thing users see of a snapshot. */
export function FindingsPanel() {
  const { phase, findings, checks, judgement } = useFindings();
  const { selected, toggle, choose } = useFindingSelection(findings);
  // A setting may fix what the allocator did: said once, on the most severe finding.
  const citing = findings.find((finding) => finding.severity !== 'low' && isCiting(finding));
  const verdict = judgement?.verdict ?? (phase === 'stopped' ? STOPPED : undefined);
  /** A link may name a finding of another recording. */
  const isMissing =
    phase === 'done' && selected !== undefined && findings.every(({ id }) => id !== selected);
  const isOpen = phase !== 'done' && phase !== 'failed';
  const [isUnfolded, setIsUnfolded] = useState(false);
  const lead = findings.find(({ fingerprint }) => fingerprint === judgement?.verdict.finding);
  const others = findings.filter((finding) => finding !== lead);
  const most = judgement?.most;
  const [line = most?.line] = judgement?.verdict.lines ?? [];
  const showPart = useShowPart();
  const showVerdict = useShowVerdict(judgement ?? {});
  // If no finding covers the cause (a tensor replaced by larger ones, say), its account row shows it.
  const part =
    judgement &&
    partsOf(judgement.account, '').find(({ kind }) => kind === judgement.verdict.cause);
  const showRow = judgement && part && (() => void showPart(part, judgement.account.moment.event));
  const showTensors =
    judgement && showVerdict && (() => showVerdict(judgement.account.moment.event));
  const showLead = lead && (() => choose(lead));
  const showBlocks = lead !== undefined && hasBlocks(lead) ? showLead : (showTensors ?? showRow);
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
      className="findings column"
      data-testid="findings"
      aria-label="Findings"
      aria-busy={phase === 'running' || phase === 'waiting'}
    >
      {phase !== 'failed' && (
        <VerdictCard
          verdict={
            most && verdict
              ? {
                  ...verdict,
                  lines: [most.line],
                  does: mostText(most, WHEN[judgement.account.moment.why]),
                }
              : verdict
          }
          folding={{ isUnfolded, onToggle: () => setIsUnfolded(!isUnfolded) }}
          onShow={showBlocks ?? showLead}
          shows={showBlocks === undefined ? 'its finding' : 'its blocks in the plots'}
        />
      )}
      {line !== undefined && <CodeExcerpt frame={line} />}
      {judgement !== undefined && <Holders verdict={judgement.verdict} />}
      {lead !== undefined && canHighlight(lead) && <HighlightButton />}
      {phase === 'failed' && <Failed />}
      {isMissing && (
        <p className="dim">
          The link shows a finding that this snapshot does not have: <code>{selected}</code>
        </p>
      )}
      {judgement !== undefined && <AccountPanel judgement={judgement} />}
      <ul className="column" aria-label="Findings, most important first">
        {lead !== undefined && cardOf(lead)}
        {others.length > 0 && <li className="dim small">Also found</li>}
        {others.map(cardOf)}
      </ul>
      {isOpen && <Progress />}
      {phase === 'done' && <CopyFindings />}
      <CheckList checks={checks} verdict={judgement?.verdict} />
      <OomMessageLink />
    </section>
  );
}

/** Hides or shows the verdict's highlight in the plots. */
function HighlightButton() {
  const [isOn, toggle] = useLeadHighlight();
  const [icon, text, title] = isOn
    ? [Eye, 'Highlighted in the plots', 'Remove this highlight from the plots']
    : [EyeOff, 'Not highlighted in the plots', HIGHLIGHT];
  return (
    <Button
      icon={icon}
      className="inline-row quiet small"
      aria-pressed={isOn}
      title={title}
      onClick={toggle}
    >
      {' '}
      {text}
    </Button>
  );
}

const HIGHLIGHT = 'Highlight what the verdict is about in the plots, while no finding is selected';

function CopyFindings() {
  const state = useFindings();
  const { info, device } = useDevice();
  const run = useCitedRun();
  const findings = run
    ? cited(state.findings, citationText(run.result, run.recorded))
    : state.findings;
  const report = buildFindings(info.file, [device], [{ ...state, findings, ...state.judgement }]);
  return (
    <CopyButton
      text={findingsText(report, MARKDOWN).join('\n')}
      label="all findings as Markdown"
      title="Copy all findings and checks as Markdown, for an issue or a chat"
      className="button"
    >
      Copy as Markdown
    </CopyButton>
  );
}

function Progress() {
  const { phase, checks } = useFindings();
  const { info, device } = useDevice();
  const { findings } = useAnalysis();
  const isStopped = phase === 'stopped';
  const act = isStopped ? findings.retry : findings.stop;
  return (
    <div className="spread small findings-progress">
      <progress max={DETECTOR_IDS.length} value={checks.length} aria-label="Checks done" />
      <span className="dim">
        {isStopped && 'Stopped after '}
        {formatCount(checks.length)} of {DETECTOR_IDS.length} checks
      </span>
      <Button onClick={() => act(info, device.index)}>{isStopped ? 'Check all' : 'Stop'}</Button>
    </div>
  );
}

function Failed() {
  const { failure } = useFindings();
  const { info, device } = useDevice();
  const { findings } = useAnalysis();
  return (
    <div className="verdict" data-tone="severe" role="alert">
      <div className="verdict-body column">
        <p className="verdict-text">{failure?.message}</p>
        <p>{failure?.advice}</p>
        <Button onClick={() => findings.retry(info, device.index)}>Try again</Button>
      </div>
    </div>
  );
}

const STATES: Readonly<Record<Check['status'], readonly [word: string, icon: LucideIcon]>> = {
  found: ['Found', Search],
  clear: ['Clear', CheckMark],
  'cannot-tell': ["Can't tell", CircleHelp],
};

interface CheckListProps {
  readonly checks: readonly Check[];
  readonly verdict: Verdict | undefined;
}

type ShownCheck = Pick<Check, 'status' | 'reason'> & { readonly about: string };

function CheckList({ checks, verdict }: CheckListProps) {
  if (checks.length === 0) return undefined;
  const shown = [
    ...checks.map((check): ShownCheck => ({ ...check, about: detectorOf(check).about })),
    ...(verdict === undefined ? [] : peakCheck(verdict)),
  ];
  return (
    <details className="ruled">
      <summary>
        What was checked <span className="dim small">{tallyOf(shown)}</span>
      </summary>
      <ul aria-label="Checks">
        {shown.map(({ about, status, reason }) => {
          const [word, Icon] = STATES[status];
          return (
            <li key={about} className="check">
              <Icon size={14} aria-hidden />
              <div className="fill">
                <p className="spread">
                  <span>{sentenceCase(about)}</span>
                  <span className="figure dim small">{word}</span>
                </p>
                <p className="dim small">{sentenceCase(reason)}</p>
              </div>
            </li>
          );
        })}
      </ul>
    </details>
  );
}

/** '8 checks: 5 clear, 2 can't tell, 1 told above': as a finding, or by the verdict alone. */
function tallyOf(checks: readonly ShownCheck[]): string {
  const counts = Object.entries(STATES).flatMap(([status, [word]]) => {
    const count = checks.filter((check) => check.status === status).length;
    return count === 0
      ? []
      : [`${count} ${status === 'found' ? 'told above' : word.toLowerCase()}`];
  });
  return `${plural(checks.length, 'check')}: ${counts.join(', ')}`;
}

import './findings.css';
import { type RefObject, useEffect, useRef } from 'react';
import { formatCount } from '../../core/base/format.ts';
import { checklist } from '../../core/findings/checklist.ts';
import { DETECTOR_IDS } from '../../core/findings/types.ts';
import { type Verdict, verdictOf } from '../../core/findings/verdict.ts';
import type { DeviceInfo, SessionInfo } from '../../core/query/types.ts';
import { useServices } from '../app/services.ts';
import type { ViewProps } from '../app/view-props.ts';
import { OomMessageLink } from '../oom-message/oom-message-link.tsx';
import { CheckList } from './check-list.tsx';
import { CopyFindings } from './copy-findings.tsx';
import { FindingCard } from './finding-card.tsx';
import type { FindingsState } from './findings-keeper.ts';
import type { RankedFinding } from './ranked-findings.ts';
import { useFindingSelection } from './use-finding-selection.ts';
import { useFindings } from './use-findings.ts';
import { VerdictCard } from './verdict-card.tsx';

const STOPPED: Verdict = {
  tone: 'unknown',
  text: 'Stopped before anything could be told.',
  also: [],
  findings: [],
};

/** What went wrong, where and what to try: the first thing one sees of a snapshot. */
export function FindingsPanel({ info, device }: ViewProps) {
  const state = useFindings(info, device);
  const { phase, findings, checks } = state;
  const { selected, toggle, choose, leave } = useFindingSelection(device, findings);
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
      {phase === 'failed' && <Failed info={info} device={device} state={state} />}
      <Missing state={state} wanted={selected} />
      <ul className="finding-list" aria-label="Findings, the gravest first">
        {findings.map((finding) => (
          <FindingCard
            key={finding.id}
            device={device}
            finding={finding}
            isSelected={finding.id === selected}
            citesWhatIf={phase === 'done' && finding === citing}
            onToggle={() => toggle(finding)}
          />
        ))}
      </ul>
      {isOpen && <Progress info={info} device={device} state={state} />}
      {phase === 'done' && <CopyFindings info={info} device={device} state={state} />}
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

/** A setting of the allocator may mend what the allocator did: said once, on the gravest. */
function mayCite({ detector, severity }: RankedFinding): boolean {
  return severity !== 'low' && (detector === 'fragmentation' || detector === 'oom');
}

function factsOf({ settings }: SessionInfo) {
  const { expandable_segments: isExpandable } = settings;
  return { isExpandable: typeof isExpandable === 'boolean' ? isExpandable : undefined };
}

interface StateProps {
  readonly info: SessionInfo;
  readonly device: DeviceInfo;
  readonly state: FindingsState;
}

/** How far it is, with a way to stop it and to go on. */
function Progress({ info, device, state: { phase, checks } }: StateProps) {
  const { findings } = useServices();
  const isStopped = phase === 'stopped';
  const act = () =>
    isStopped ? findings.retry(info, device.index) : findings.stop(info, device.index);
  return (
    <div className="findings-progress">
      <progress max={DETECTOR_IDS.length} value={checks.length} aria-label="Checks done" />
      <span className="dim">
        {isStopped && 'Stopped after '}
        {formatCount(checks.length)} of {DETECTOR_IDS.length} checks
      </span>
      <button type="button" className="button" onClick={act}>
        {isStopped ? 'Check all' : 'Stop'}
      </button>
    </div>
  );
}

function Failed({ info, device, state: { failure } }: StateProps) {
  const { findings } = useServices();
  return (
    <div className="verdict" data-tone="grave" role="alert">
      <div>
        <p className="verdict-text">{failure?.message}</p>
        <p>{failure?.advice}</p>
        <button type="button" className="button" onClick={() => findings.retry(info, device.index)}>
          Try again
        </button>
      </div>
    </div>
  );
}

interface MissingProps {
  readonly state: FindingsState;
  readonly wanted: string | undefined;
}

/** A link may name a finding of another recording. */
function Missing({ state: { phase, findings }, wanted }: MissingProps) {
  const isMissing =
    phase === 'done' && wanted !== undefined && findings.every(({ id }) => id !== wanted);
  if (!isMissing) return undefined;
  return (
    <p className="finding-missing">
      The link shows a finding that this snapshot does not have: <code>{wanted}</code>
    </p>
  );
}

/** Esc in the panel, or where nothing has the focus: everywhere else it has a meaning of its own. */
function useEscape(panel: RefObject<HTMLElement | null>, action: (() => void) | undefined): void {
  useEffect(() => {
    if (action === undefined) return;
    function onKeyDown({ key, target }: KeyboardEvent) {
      const isInPanel = target instanceof Node && panel.current?.contains(target) === true;
      if (key === 'Escape' && (isInPanel || target === document.body)) action?.();
    }
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [panel, action]);
}

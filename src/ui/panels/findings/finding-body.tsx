import { FlaskConical } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useStore } from 'zustand';
import { CITED_SETTING } from '../../../allocator/simulator/presets.ts';
import type { RankedFinding } from '../../../analysis/findings/ranked-findings.ts';
import { isSimulated } from '../../../analysis/findings/simulated-setting.ts';
import type { Fact, FindingPart } from '../../../analysis/findings/types.ts';
import { sumBy } from '../../../base/collections.ts';
import { formatBytes, formatCount, formatExactBytes, plural } from '../../../base/format.ts';
import { absenceText } from '../../../device/model/stacks.ts';
import { whatIfSentence } from '../../../output/report/what-if-citation.ts';
import { useStores } from '../../../state/stores.ts';
import { Button } from '../../shared/buttons.tsx';
import { CodeText, Fact as FactRow } from '../../shared/facts.tsx';
import { FrameLink } from '../../shared/frame-links.tsx';
import { useAnalysis, useDevice } from '../../shared/services.ts';
import { StackList } from '../../shared/stack-list.tsx';
import { useAsk } from '../../shared/use-query.ts';
import { VIEW_LABELS } from '../../shared/view-names.ts';
import { resultOf, runMissing, whatIfStoreOf } from '../what-if/what-if-runs.ts';
import { EVIDENCE_VIEWS, shownIn } from './show-finding.ts';

export function FindingBody({ finding }: { readonly finding: RankedFinding }) {
  const { advice, parts, facts, stack, stackKind, disproof } = finding;
  return (
    <div className="column ruled">
      <ShowButtons finding={finding} />
      <section aria-label="What to try">
        <h3>What to try</h3>
        <ol className="advice">
          {advice.map((text) => (
            <li key={text}>
              <CodeText text={text} />
            </li>
          ))}
        </ol>
      </section>
      {parts.length > 0 && <Parts parts={parts} blocks={finding.evidence.allocations.length} />}
      {facts.length > 0 && (
        <section aria-label="Figures">
          <h3>Figures</h3>
          <dl className="details-facts">
            {facts.map((fact, i) => factRow(fact, fact.label === facts[i - 1]?.label))}
          </dl>
        </section>
      )}
      {stack.length > 0 && (
        <details>
          <summary>Stack, {formatCount(stack.length)} frames</summary>
          <StackList stack={{ kind: stackKind, frames: stack }} />
        </details>
      )}
      <p className="dim">
        <strong>What would disprove it:</strong> {disproof}
      </p>
    </div>
  );
}

function ShowButtons({ finding }: { readonly finding: RankedFinding }) {
  const { device } = useDevice();
  const { view } = useStores();
  const ask = useAsk();
  const { moment, evidence } = finding;
  const [largest] = evidence.allocations;
  async function selectLargest(index: number) {
    // Without the session there is nothing to select, and the views report that.
    const details = await ask('allocation', { index }).catch(() => undefined);
    if (details !== undefined) view.commit({ selection: details.label });
  }
  return (
    <section className="button-row finding-actions" aria-label="Show the evidence">
      {EVIDENCE_VIEWS.map((name) => {
        const { icon: Icon, label } = VIEW_LABELS[name];
        const change = {
          ...shownIn(name, finding, device.events),
          cursor: Math.max(0, moment),
        };
        return (
          <Button icon={Icon} key={name} onClick={() => view.commit(change)}>
            {label}
          </Button>
        );
      })}
      {largest !== undefined && (
        <Button onClick={() => void selectLargest(largest)}>
          Select the largest of {formatCount(evidence.allocations.length)} blocks
        </Button>
      )}
    </section>
  );
}

/** Call sites listed before "show all". */
const FIRST_PARTS = 6;

interface PartsProps {
  readonly parts: readonly FindingPart[];
  /** All of the finding's: the smallest call sites are not among the parts. */
  readonly blocks: number;
}

function Parts({ parts, blocks }: PartsProps) {
  const unlisted = blocks - sumBy(parts, ({ count }) => count);
  const [isAll, setIsAll] = useState(parts.length <= FIRST_PARTS);
  return (
    <section aria-label="Call sites">
      <h3>Call sites</h3>
      <ul className="parts">
        {parts
          .slice(0, isAll ? undefined : FIRST_PARTS)
          .map(({ frame, stackKind, bytes, count, note }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: sites without a stack have no other identity; none moves
            <li key={index}>
              <span className="figure" title={formatExactBytes(bytes)}>
                {bytes > 0 ? formatBytes(bytes) : ''}
              </span>
              <span>
                {frame === undefined ? absenceText(stackKind) : <FrameLink frame={frame} />}
                <span className="dim">
                  {' '}
                  {formatCount(count)} × {note}
                </span>
              </span>
            </li>
          ))}
      </ul>
      {isAll && unlisted > 0 && (
        <p className="dim">
          {plural(unlisted, 'block')} more, at call sites that are no larger, or at other times
        </p>
      )}
      {!isAll && (
        <Button className="link" onClick={() => setIsAll(true)}>
          Show {plural(parts.length - FIRST_PARTS, 'more call site')}
          {unlisted > 0 && ' and how many blocks the others have'}
        </Button>
      )}
    </section>
  );
}

/** @param isRepeated the row above has the same label, so only screen readers need it */
function factRow(fact: Fact, isRepeated: boolean) {
  const bytes = 'bytes' in fact ? fact.bytes : undefined;
  const other = 'count' in fact ? formatCount(fact.count) : 'text' in fact ? fact.text : '';
  const text = bytes === undefined ? other : formatBytes(bytes);
  return (
    <FactRow
      key={`${fact.label} ${text}`}
      term={isRepeated ? <span className="visually-hidden">{fact.label}</span> : fact.label}
      title={bytes === undefined ? undefined : formatExactBytes(bytes)}
    >
      {text}
    </FactRow>
  );
}

/** The run under the setting that findings quote, beside the recorded one; undefined until it has been simulated. */
export function useCitedRun() {
  const { device } = useDevice();
  const known = useStore(whatIfStoreOf(device));
  const { recorded } = known;
  const result = resultOf(known, 'recorded', CITED_SETTING);
  return recorded && result && { recorded, result };
}

/**
 * The simulated peak under the best setting. Nothing until it has been run, and if it can't be: without a trace, or when
 * the worker fails (the what-if view reports that).
 */
export function WhatIfCitation() {
  const { view } = useStores();
  const { analysis } = useAnalysis();
  const { device } = useDevice();
  const run = useCitedRun();
  useEffect(() => {
    if (!isSimulated(device)) return;
    const controller = new AbortController();
    const { signal } = controller;
    runMissing(analysis, device, [CITED_SETTING], { signal }).catch(() => undefined);
    return () => controller.abort();
  }, [analysis, device]);
  if (run === undefined) return undefined;
  const { recorded, result } = run;
  if (result.peakReservedBytes === recorded.peakReservedBytes) return undefined;
  return (
    <p className="inline-row">
      <FlaskConical size={14} aria-hidden />
      <span>
        <code>{CITED_SETTING}</code> {whatIfSentence(result, recorded)}.{' '}
        <Button
          className="link"
          onClick={() => view.commit({ view: 'what-if', setting: CITED_SETTING })}
        >
          Compare settings
        </Button>
      </span>
    </p>
  );
}

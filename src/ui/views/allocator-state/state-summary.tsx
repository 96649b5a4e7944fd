import { useState } from 'react';
import { formatBytes, plural } from '../../../base/format.ts';
import type { PinSite, StateOverview } from '../../../device/allocator-state/describe-state.ts';
import type { SpaceTotals } from '../../../device/allocator-state/segment-groups.ts';
import { frameLabel } from '../../../device/model/frame-text.ts';
import { absenceText } from '../../../device/model/stacks.ts';
import { inWordsOf } from '../../../device/model/vendors.ts';
import { frameTitle } from '../../shared/code-place.tsx';
import { Bytes, Fact } from '../../shared/facts.tsx';
import { useDevice } from '../../shared/services.ts';
import {
  keptSentences,
  oomSentence,
  releaseSentence,
  roundingText,
  usedText,
} from './state-labels.ts';

interface StateSummaryProps {
  readonly overview: StateOverview;
  readonly onPick: (site: PinSite) => void;
}

/** CSS pixels. In a lower window the list needs the space more. */
const ROOMY_PX = 800;

export function StateSummary({ overview, onPick }: StateSummaryProps) {
  const { device } = useDevice();
  const oom = oomSentence(device, overview);
  return (
    <div className="bar column state-summary">
      {oom !== undefined && <p className="callout">{oom}</p>}
      <Totals totals={overview.totals} />
      <ReleaseAnswer overview={overview} onPick={onPick} />
    </div>
  );
}

/** What empty_cache() would free and, when unfolded, what stays and which call sites keep it. */
function ReleaseAnswer({ overview, onPick }: StateSummaryProps) {
  const { totals, release, pinSites, otherPinSites, otherPinnedBytes } = overview;
  const [hasRoom] = useState(() => window.innerHeight >= ROOMY_PX);
  const kept = keptSentences(release);
  const { device } = useDevice();
  const answer = inWordsOf(device, `torch.cuda.${releaseSentence(release, totals)}`);
  if (kept.length === 0) return <p>{answer}</p>;
  return (
    <details open={hasRoom}>
      <summary>{answer}</summary>
      <div className="state-kept">
        <div>
          {kept.map((sentence) => (
            <p key={sentence} className="dim">
              {sentence}
            </p>
          ))}
        </div>
        {pinSites.length > 0 && (
          <ul aria-label="What keeps free memory from being released">
            {pinSites.map((site) => (
              <li key={site.allocation}>
                <KeptBytes site={site} onPick={onPick} />
              </li>
            ))}
            {otherPinSites > 0 && (
              <li className="dim">
                {plural(otherPinSites, 'more line')}: {formatBytes(otherPinnedBytes)}
              </li>
            )}
          </ul>
        )}
      </div>
    </details>
  );
}

function Totals({ totals }: { readonly totals: SpaceTotals }) {
  const { reservedBytes, freeBytes, segments, liveBlocks } = totals;
  return (
    <dl className="row state-facts" aria-label="Totals">
      <Fact term="Reserved" title={`In ${plural(segments, 'segment')}`}>
        <Bytes bytes={reservedBytes} />
      </Fact>
      <Fact term="Allocated" title={`${plural(liveBlocks, 'live block')}, including pending ones`}>
        <Bytes bytes={totals.allocatedBytes} />
      </Fact>
      <Fact term="Pending free" about="Freed, but another stream may still use it (record_stream)">
        <Bytes bytes={totals.pendingBytes} />
      </Fact>
      <Fact term="Cached" about="Reserved and not in use: gaps between blocks, and empty segments">
        <Bytes bytes={freeBytes} /> ({usedText(freeBytes, reservedBytes) || 'none'})
      </Fact>
      <Fact
        term="Largest gap"
        about="The largest request that fits without new memory, if pool and stream match"
      >
        <Bytes bytes={totals.largestFreeBytes} />
      </Fact>
      <Fact term="Rounding" about="In live blocks: block size minus requested size">
        {roundingText(totals)}
      </Fact>
    </dl>
  );
}

interface KeptBytesProps extends Pick<StateSummaryProps, 'onPick'> {
  readonly site: PinSite;
}

function KeptBytes({ site, onPick }: KeptBytesProps) {
  const { frame, stackKind, keptBytes, blocks, segments } = site;
  const [line, place] =
    frame === undefined
      ? [absenceText(stackKind), absenceText(stackKind)]
      : [frameLabel(frame), frameTitle(frame)];
  return (
    <button
      type="button"
      className="keeping-site hoverable"
      title={`${place}\n${plural(blocks, 'live block')} in ${plural(segments, 'segment')}; free bytes that several blocks keep are split evenly among them. Click to select the block that keeps most.`}
      onClick={() => onPick(site)}
    >
      <span className="figure">{formatBytes(keptBytes)}</span>
      <span className="one-line">{line}</span>
      <span className="dim">{plural(blocks, 'block')}</span>
    </button>
  );
}

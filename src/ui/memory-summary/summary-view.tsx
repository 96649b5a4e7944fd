import './summary.css';
import type { SessionApi } from '../../engine/protocol.ts';
import { useQuery } from '../shared/use-query.ts';
import type { ViewProps } from '../shared/view-props.ts';
import { MemorySection } from './memory-section.tsx';
import { PhasesSection } from './phases-section.tsx';
import { RecordingSection } from './recording-section.tsx';
import { SettingsSection } from './settings-section.tsx';

interface OfDevice {
  readonly deviceIndex: number;
}

const askPhases = (session: SessionApi, question: OfDevice) => session.annotationGroups(question);
const askFacts = (session: SessionApi, question: OfDevice) => session.traceFacts(question);

/** What PyTorch itself would say of this memory, how the program's phases compare, and what the file holds. */
export function SummaryView({ info, device }: ViewProps) {
  const phases = useQuery(askPhases, { deviceIndex: device.index }, info);
  const facts = useQuery(askFacts, { deviceIndex: device.index }, info);
  return (
    // It scrolls, and nothing in it need take the focus.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: so that keys can scroll it
    <section className="summary-view" aria-label="Figures" tabIndex={0}>
      <MemorySection
        info={info}
        device={device}
        phases={phases.value?.groups}
        facts={facts.value}
      />
      <PhasesSection device={device} answer={phases} />
      <SettingsSection info={info} />
      <RecordingSection info={info} device={device} answer={facts} />
    </section>
  );
}

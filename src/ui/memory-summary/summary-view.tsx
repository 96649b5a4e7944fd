import './summary.css';
import { useQuery } from '../shared/use-query.ts';
import { PhasesSection } from './annotations-section.tsx';
import { MemorySection } from './memory-section.tsx';
import { RecordingSection } from './recording-section.tsx';
import { SettingsSection } from './settings-section.tsx';

/** What PyTorch itself would say of this memory, how the program's phases compare, and what the file holds. */
export function SummaryView() {
  const phases = useQuery('annotationGroups', {});
  const facts = useQuery('traceFacts', {});
  return (
    // It scrolls, and nothing in it need take the focus.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: so that keys can scroll it
    <section className="summary-view" aria-label="Figures" tabIndex={0}>
      <MemorySection phases={phases.value?.groups} facts={facts.value} />
      <PhasesSection answer={phases} />
      <SettingsSection />
      <RecordingSection answer={facts} />
    </section>
  );
}

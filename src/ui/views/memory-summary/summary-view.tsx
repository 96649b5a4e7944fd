import './summary.css';
import { useQuery } from '../../shared/use-query.ts';
import { AnnotationsSection } from './annotations-section.tsx';
import { MemorySection } from './memory-section.tsx';
import { RecordingSection, SettingsSection } from './recording-section.tsx';

/** The figures of memory_summary(), a comparison of the program's annotations, and what the file holds. */
export function SummaryView() {
  const annotations = useQuery('annotationGroups', {});
  const facts = useQuery('traceFacts', {});
  return (
    // It scrolls, and may hold nothing else that takes the focus.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: so that keys can scroll it
    <section className="summary-view" aria-label="Figures" tabIndex={0}>
      <MemorySection annotationGroups={annotations.value?.groups} facts={facts.value} />
      <AnnotationsSection query={annotations} />
      <SettingsSection />
      <RecordingSection query={facts} />
    </section>
  );
}

import './summary.css';
import type { ViewProps } from '../app/view-props.ts';
import { MemorySection } from './memory-section.tsx';
import { PhasesSection } from './phases-section.tsx';
import { RecordingSection } from './recording-section.tsx';
import { SettingsSection } from './settings-section.tsx';

/** What PyTorch itself would say of this memory, how the program's phases compare, and what the file holds. */
export function SummaryView({ info, device }: ViewProps) {
  return (
    // It scrolls, and nothing in it need take the focus.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: so that keys can scroll it
    <section className="summary-view" aria-label="Figures" tabIndex={0}>
      <MemorySection info={info} device={device} />
      <PhasesSection info={info} device={device} />
      <SettingsSection info={info} />
      <RecordingSection info={info} device={device} />
    </section>
  );
}

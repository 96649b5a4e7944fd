import { FolderOpen, ShieldCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import { OomMessageLink } from '../../panels/oom-message/oom-message-link.tsx';
import { RecordRecipes } from '../../panels/recipes/record-recipes.tsx';
import { Button } from '../../shared/buttons.tsx';
import { useServices } from '../../shared/services.ts';
import { FilePicker } from './file-picker.tsx';
import { RememberFiles } from './remember-files.tsx';

/** The page before a file is open. `children`, shown above, say why the last file failed. */
export function EmptyState({ children }: { readonly children: ReactNode }) {
  return (
    <main className="empty-state">
      <div className="empty-column">
        {children}
        <h1>See where every byte of GPU memory went</h1>
        <p className="lead">
          vramscope opens PyTorch CUDA memory snapshots: every allocation over time, the line of
          code that made it, and what was live when memory ran out.
        </p>
        <div className="drop-zone" data-testid="drop-zone">
          <strong>Drop a snapshot anywhere on this page</strong>
          <FilePicker icon={FolderOpen} isPrimary>
            Choose a file…
          </FilePicker>
          <p className="dim">
            pickle, .gz, .zip, .zst, or the HTML that <code>trace_plot</code> writes; pasting works
            too
          </p>
          <p className="dim">
            Two files are compared; a folder or many files are the ranks of a job.
          </p>
        </div>
        <p className="inline-row privacy dim">
          <ShieldCheck size={15} aria-hidden />
          <span>
            Nothing leaves your machine: your browser reads the file here and never runs code from
            it. The page’s security policy blocks connections to anything but this page’s server and
            the host named in a <code>?snapshot=</code> link.
          </span>
        </p>
        <RememberFiles />
        <OomMessageLink />
        {SAMPLES.length > 0 && <SampleCards />}
        <section aria-labelledby="record-heading">
          <h2 id="record-heading">Record your own snapshot</h2>
          <RecordRecipes />
        </section>
      </div>
    </main>
  );
}

function SampleCards() {
  const { loader } = useServices();
  return (
    <section aria-labelledby="samples-heading">
      <h2 id="samples-heading">Or open a sample</h2>
      <ul className="samples">
        {SAMPLES.map(([name, title, about]) => (
          <li key={name}>
            <Button className="sample" onClick={() => void loader.open(sampleOf(name))}>
              <strong>{title}</strong>
              <span className="dim">{about}</span>
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}

const sampleOf = (name: string) => ({ kind: 'url', url: `samples/${name}.pickle.gz` }) as const;

/** Real recordings from an H200, served with the page. The single-file page has none. */
const SAMPLES: readonly (readonly [name: string, title: string, about: string])[] = import.meta.env
  .VITE_SINGLE
  ? []
  : [
      [
        'train_gpt_small',
        'Healthy training',
        'A small GPT: the same pattern every step, with AdamW state from step 1 on.',
      ],
      [
        'leak_forward_hook',
        'A leak',
        'A forward hook keeps one tensor per step, and memory climbs.',
      ],
      ['oom_fragmented', 'Out of memory', 'An allocation fails with 2 of 6 reserved GiB in use.'],
      [
        'frag_gpt_varlen',
        'Fragmentation',
        'Varying sequence lengths: reserved memory is three times what is used.',
      ],
    ];

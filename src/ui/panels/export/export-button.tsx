import { Download, Image, Share, X } from 'lucide-react';
import { useState } from 'react';
import { snapshotStem } from '../../../base/file-names.ts';
import { formatBytes } from '../../../base/format.ts';
import { deviceTitle } from '../../../device/model/vendors.ts';
import type { ExportChoice, ExportKind } from '../../../output/export/exports.ts';
import { useView } from '../../../state/stores.ts';
import { Button, Dialog } from '../../shared/buttons.tsx';
import { SavingOutcome, useSaving } from '../../shared/saving.tsx';
import { useDevice } from '../../shared/services.ts';
import { useAsk, useQuery } from '../../shared/use-query.ts';
import { VIEW_LABELS } from '../../shared/view-names.ts';
import { ReportForm } from '../report/report-form.tsx';
import { type PictureKind, takePicture } from './picture.ts';

export function ExportButton() {
  const [isWanted, setIsWanted] = useState(false);
  const { value: choices, failure } = useQuery('exportChoices', isWanted ? {} : undefined);
  return (
    <>
      <Button
        icon={Share}
        className="tab view-tab export-button"
        title="Export a report, pictures and data"
        onClick={() => setIsWanted(true)}
      >
        Export
      </Button>
      <Dialog
        title="Export"
        // Not before the worker has said what it can make: buttons would move while one clicks them.
        isOpen={isWanted && (choices ?? failure) !== undefined}
        onClose={() => setIsWanted(false)}
      >
        <section aria-label="Report" className="column ruled">
          <h3>A report to share</h3>
          <ReportForm />
        </section>
        <section aria-label="Picture" className="column ruled">
          <h3>A picture of this view</h3>
          <PictureExports />
        </section>
        <section aria-label="Data" className="column ruled">
          <h3>Data for other programs</h3>
          {failure !== undefined && <p role="alert">{failure}</p>}
          <DataExports choices={choices ?? {}} />
        </section>
      </Dialog>
    </>
  );
}

const MIME: Readonly<Record<PictureKind, string>> = { png: 'image/png', svg: 'image/svg+xml' };

function PictureExports() {
  const { info, device } = useDevice();
  const name = useView((view) => view.view);
  const { label } = VIEW_LABELS[name];
  const { state, save } = useSaving();
  const place = device.kind === 'host' ? 'pinned memory' : deviceTitle(device);
  const title = `${label} · ${info.file.name} · ${place}`;
  const start = (kind: PictureKind) =>
    save(`${snapshotStem(info.file.name)}-${name}.${kind}`, MIME[kind], async () => [
      await takePicture(kind, title),
    ]);
  return (
    <div className="row">
      {(['png', 'svg'] as const).map((kind) => (
        <Button icon={Image} key={kind} onClick={() => void start(kind)}>
          {label} as {kind.toUpperCase()}
        </Button>
      ))}
      <SavingOutcome state={state} working={() => 'Drawing…'} />
    </div>
  );
}

/** Files for spreadsheets, notebooks and trace viewers. */
function DataExports({ choices }: { readonly choices: Partial<Record<ExportKind, ExportChoice>> }) {
  const { info, device } = useDevice();
  const ask = useAsk();
  const { state, save, cancel } = useSaving();
  const isWorking = state.kind === 'working';
  const start = (kind: ExportKind, { extension, mime }: ExportChoice) =>
    save(`${snapshotStem(info.file.name)}.${extension}`, mime, async (signal, onProgress) => [
      await ask('exportFile', { kind }, { signal, onProgress }),
    ]);
  return (
    <>
      <ul className="data-exports">
        {(Object.entries(choices) as [ExportKind, ExportChoice][]).map(([kind, choice]) => {
          const { label, about, needsTime } = choice;
          const lacksTime = needsTime === true && !device.hasTime;
          return (
            <li key={kind}>
              <Button
                icon={Download}
                disabled={isWorking || lacksTime}
                onClick={() => void start(kind, choice)}
              >
                {label}
              </Button>
              <p className="dim">{lacksTime ? 'this file has no timestamps' : about}</p>
            </li>
          );
        })}
      </ul>
      <div className="row">
        <SavingOutcome
          state={state}
          working={(bytes) => `Writing, ${formatBytes(bytes)} so far…`}
        />
        {isWorking && (
          <Button icon={X} onClick={cancel}>
            Cancel
          </Button>
        )}
      </div>
    </>
  );
}

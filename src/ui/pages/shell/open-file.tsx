import { Info } from 'lucide-react';
import { haveOwnRanks } from '../../../analysis/summary-file/rank-of-name.ts';
import {
  formatBytes,
  formatCount,
  formatExactBytes,
  formatFileSize,
} from '../../../base/format.ts';
import { settingText } from '../../../device/memory-summary/settings.ts';
import type { DeviceInfo, SessionInfo } from '../../../device/model/device-info.ts';
import { isUnusedDevice, mainPeak, peakText } from '../../../device/model/main-device.ts';
import { deviceTitle, vendorName } from '../../../device/model/vendors.ts';
import type { GivenFiles } from '../../../state/given-files.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { onDevice } from '../../../state/view-fitting.ts';
import { Button, Dialog, IconButton, Popover, Select } from '../../shared/buttons.tsx';
import { Fact } from '../../shared/facts.tsx';
import { useServices } from '../../shared/services.ts';
import { FilePicker } from '../open/file-picker.tsx';

/** The open file in the header: its name on the left, its devices on the right. */
export function OpenFile({ info }: { readonly info: SessionInfo }) {
  const { view } = useStores();
  const { report } = useServices();
  const isComparing = useView((state) => state.comparison !== undefined);
  return (
    <>
      <FileFacts info={info} />
      <span className="spacer" />
      {info.devices.length > 0 && !isComparing && <DeviceSelect devices={info.devices} />}
      {info.devices.length > 0 && !isComparing && report === undefined && (
        <FilePicker onPick={() => view.commit({ comparison: '' })}>Compare with…</FilePicker>
      )}
    </>
  );
}

/** To the file that the open one replaced. */
export function BackButton({ name, onClick }: { readonly name: string; onClick(): void }) {
  const label = `Back to ${name}`;
  return (
    <Button
      className="button one-line back-button"
      aria-label={label}
      title={label}
      onClick={onClick}
    >
      ‹<span> {name}</span>
    </Button>
  );
}

/** The file's name and size; a popover shows more, including the allocator's settings. */
function FileFacts({ info: { file, settings } }: { readonly info: SessionInfo }) {
  return (
    <div className="inline-row file-facts">
      <span className="one-line file-name" title={file.name}>
        {file.name}
      </span>
      <span className="dim">{formatFileSize(file.bytes)}</span>
      <Popover
        className="file-popover"
        button={(id) => <IconButton icon={Info} popoverTarget={id} label="About this file" />}
      >
        <h3>File</h3>
        <dl className="facts">
          <Fact term="Size">{formatExactBytes(file.bytes)}</Fact>
          <Fact term="Container">{file.container}</Fact>
          <Fact term="Pickle protocol">{file.protocol ?? 'none'}</Fact>
          <Fact term="Read by">
            {file.decoder === 'columnar' ? 'columnar decoder' : 'general decoder'}
          </Fact>
          {file.partial !== undefined && <Fact term="Partial">{file.partial}</Fact>}
        </dl>
        <h3 className="ruled">Allocator settings</h3>
        <dl className="facts">
          {Object.entries(settings).map(([name, value]) => (
            <Fact key={name} term={name}>
              {settingText(value)}
            </Fact>
          ))}
        </dl>
        {Object.keys(settings).length === 0 && <p className="dim">The file has no settings.</p>}
      </Popover>
    </div>
  );
}

/** Unused devices come last and are disabled. */
function DeviceSelect({ devices }: { readonly devices: readonly DeviceInfo[] }) {
  const { view } = useStores();
  const current = useView((state) => state.deviceIndex);
  const inOrder = [...devices].sort(
    (a, b) => Number(isUnusedDevice(a)) - Number(isUnusedDevice(b)),
  );
  return (
    <Select
      className="field device-select"
      data-testid="device-select"
      aria-label="Device"
      value={current}
      options={inOrder.map((device) => ({
        value: device.index,
        label: deviceText(device),
        isDisabled: isUnusedDevice(device) && device.index !== current,
      }))}
      onChoose={(index) => {
        const device = devices[index];
        if (device !== undefined) view.commit(onDevice(device));
      }}
    />
  );
}

/** 'cuda:0 · 11,633 events · peak 2.05 GiB' */
function deviceText(info: DeviceInfo): string {
  const { events, peaks, end, recording } = info;
  const vendor = vendorName(info);
  const name = vendor === undefined ? deviceTitle(info) : `${vendor} ${info.device}`;
  if (isUnusedDevice(info)) return `${name} · not used by this process`;
  const memory =
    events === 0
      ? `${formatBytes(end.allocatedBytes)} allocated`
      : `peak ${peakText(mainPeak(peaks).bytes, recording)}`;
  return `${name} · ${formatCount(events)} events · ${memory}`;
}

/** A file is to replace the open one. */
export type GivenChoice = 'compare' | 'ranks' | File;

interface GivenDialogProps {
  readonly given: GivenFiles;
  readonly openName: string;
  readonly onChoose: (choice: GivenChoice) => void;
  readonly onCancel: () => void;
}

type Choice = readonly [choice: GivenChoice, title: string, about: string];

/** Asks what to do with one or two files dropped on an open one. */
export function GivenDialog({ given, openName, onChoose, onCancel }: GivenDialogProps) {
  const names = given.files.map(({ name }) => name);
  const isTwo = names.length === 2;
  const closes = `Closes ${openName}; Back opens it again.`;
  const compare: Choice = [
    'compare',
    isTwo ? 'Compare the two files' : `Compare with ${openName}`,
    `Why one needs more memory than the other.${isTwo ? ` ${closes}` : ''}`,
  ];
  const ranks: Choice = [
    'ranks',
    isTwo ? 'Show the two as ranks of a job' : 'Show both as ranks of a job',
    `Which rank holds more, and at which line. ${openName} stays open behind them.`,
  ];
  // The first has the focus, so Enter takes it.
  const choices: readonly Choice[] = [
    ...(haveOwnRanks(isTwo ? names : [openName, ...names]) ? [ranks, compare] : [compare, ranks]),
    ...given.files.map((file): Choice => [file, `Replace with ${file.name}`, closes]),
  ];
  return (
    <Dialog
      isQuestion
      title={`What should vramscope do with ${names.join(' and ')}?`}
      isOpen
      onClose={onCancel}
    >
      <p className="dim">{openName} is open.</p>
      <ul className="column given-choices">
        {choices.map(([choice, title, about], index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two files may have one name
          <li key={index}>
            <Button className="sample" onClick={() => onChoose(choice)}>
              <strong>{title}</strong>
              <span className="dim">{about}</span>
            </Button>
          </li>
        ))}
      </ul>
      <Button onClick={onCancel}>Cancel</Button>
    </Dialog>
  );
}

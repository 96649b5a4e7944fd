/**
 * Which kind of device a snapshot is of. Every vendor's PyTorch writes nearly the same file, and none names itself, so
 * this goes by what only one of them writes. docs/devices.md lists the sources.
 */
import type { EventRun } from './slice-events.ts';
import {
  BlockState,
  type DeviceTrace,
  type EventTable,
  type Snapshot,
  TraceAction,
} from './tables.ts';

export const VENDORS = ['rocm', 'xpu', 'npu', 'musa', 'mlu', 'unknown'] as const;
export type VendorId = (typeof VENDORS)[number];

/** Memory of a stream's operators that Ascend's PyTorch keeps beside the caching allocator. */
export interface Workspace {
  readonly address: number;
  readonly sizeBytes: number;
  readonly stream: number;
}

/** A device that is not one of CUDA's. */
export interface Accelerator {
  readonly vendor: VendorId;
  /** What told: 'the setting PYTORCH_MUSA_ALLOC_CONF'. */
  readonly evidence: string;
  /** Added to each request before it is rounded. */
  readonly paddingBytes: number;
  /** False if no block of the file tells, and the usual padding is assumed. */
  readonly isPaddingKnown: boolean;
  /** Pages of expandable segments of the large pool, if the file tells other than the default. */
  readonly largePageBytes: number | undefined;
  readonly workspaces: readonly Workspace[];
}

/** Settings variables: PYTORCH_ALLOC_CONF, PYTORCH_MUSA_ALLOC_CONF. */
export const SETTINGS_VARIABLE = /^PYTORCH_(?:([A-Z]+)_)?ALLOC_CONF$/;
const OF_VARIABLE: Readonly<Record<string, VendorId | 'cuda'>> = {
  CUDA: 'cuda',
  HIP: 'rocm',
  XPU: 'xpu',
  NPU: 'npu',
  MUSA: 'musa',
  MLU: 'mlu',
};
/** Code that runs on one vendor's devices only: C++ namespaces, and the vendors' Python packages. */
const OF_CODE =
  /\b(?:(c10|at)::hip::|HIPCachingAllocator)|\b((?:c10|at)::xpu::)|\b(c10_npu::|torch_npu\b)|\b(torch_musa\b|c10::musa::)|\b(torch_mlu\b)/;
const CODE_VENDORS = ['rocm', 'xpu', 'npu', 'musa', 'mlu'] as const;
/** All that XPU writes. CUDA's has at least max_split_size beside them. */
const XPU_SETTINGS = ['PYTORCH_ALLOC_CONF', 'expandable_segments'];

export const WORKSPACE_ACTION = 'workspace_snapshot';
/** Events that stand for one workspace: workspace_snapshot, segment_alloc and alloc. */
const WORKSPACE_EVENTS = 3;
const ASCEND_PADDING = 32;
const GIB = 2 ** 30;

type Told = readonly [vendor: VendorId, evidence: string];

/** Undefined for CUDA, and for files of ROCm that say nothing else. */
export function acceleratorOf(
  snapshot: Pick<Snapshot, 'strings' | 'frames' | 'settings'>,
  devices: readonly DeviceTrace[],
  workspaces: readonly Workspace[],
): Accelerator | undefined {
  const votes = votesForPadding(devices);
  const names = Object.keys(snapshot.settings);
  const told =
    toldByVariable(names) ??
    toldByCode(snapshot) ??
    (names.length > 0 ? toldByOtherSettings(names) : toldByEvents(devices, workspaces, votes));
  if (told === undefined) return undefined;
  const [vendor, evidence] = told;
  const isAscend = vendor === 'npu';
  const { padded, plain } =
    isAscend && votes.padded + votes.plain === 0 ? votesOfEvents(devices) : votes;
  const isKnown = !isAscend || padded + plain > 0;
  return {
    vendor,
    evidence,
    paddingBytes: isAscend && padded >= plain ? ASCEND_PADDING : 0,
    isPaddingKnown: isKnown,
    largePageBytes: isAscend && hasGibPages(devices) ? GIB : undefined,
    workspaces: [],
  };
}

/** A variable of one vendor. PyTorch for ROCm may write CUDA's name: its C++ frames tell. */
function toldByVariable(names: readonly string[]): Told | undefined {
  for (const name of names) {
    const [, variable] = SETTINGS_VARIABLE.exec(name) ?? [];
    const vendor = variable === undefined ? 'cuda' : (OF_VARIABLE[variable] ?? 'unknown');
    if (vendor !== 'cuda') return [vendor, `the setting ${name}`];
  }
  return undefined;
}

/** Settings under the name that all vendors share. */
function toldByOtherSettings(names: readonly string[]): Told | undefined {
  if (!names.includes(XPU_SETTINGS[0]) || names.some((name) => /cuda|max_split_size/i.test(name)))
    return undefined;
  return names.every((name) => XPU_SETTINGS.includes(name))
    ? ['xpu', `settings without any but ${XPU_SETTINGS.join(' and ')}`]
    : ['unknown', 'the settings, which are not those of CUDA'];
}

function toldByCode({
  strings,
  frames,
  settings,
}: Pick<Snapshot, 'strings' | 'frames' | 'settings'>) {
  const isCuda = Object.keys(settings).some((name) => /cuda/i.test(name));
  for (const row of new Set([...frames.name, ...frames.filename])) {
    const found = OF_CODE.exec(strings.get(row));
    if (found === null) continue;
    const vendor = CODE_VENDORS[found.slice(1).findIndex((part) => part !== undefined)] ?? 'rocm';
    if (!isCuda || vendor === 'rocm') return [vendor, `${found[0]} in the stacks`] as const;
  }
  return undefined;
}

function toldByEvents(
  devices: readonly DeviceTrace[],
  workspaces: readonly Workspace[],
  { padded, plain }: Votes,
): Told | undefined {
  if (workspaces.length > 0) return ['npu', `its ${WORKSPACE_ACTION} events`];
  const hasOnlyPools = ({ events: { length, pool, timeUs, category } }: DeviceTrace) =>
    length > 0 && pool !== undefined && timeUs === undefined && category === undefined;
  if (devices.some(hasOnlyPools))
    return ['npu', 'events with pool_id but no time_us, and no settings'];
  return padded > 0 && plain === 0 ? ['npu', 'blocks 32 bytes larger before rounding'] : undefined;
}

interface Votes {
  readonly padded: number;
  readonly plain: number;
}

const rounded = (bytes: number): number => Math.max(512, Math.ceil(bytes / 512) * 512);

/** Live blocks whose size shows whether 32 bytes were added to the request: 512 gives 1,024 or 512. */
function votesForPadding(devices: readonly DeviceTrace[]): Votes {
  let padded = 0;
  let plain = 0;
  for (const { blocks, segments } of devices) {
    for (let s = 0; s < segments.length; s++) {
      // Only small segments are split down to the last 512 bytes.
      if (segments.isSmall[s] === 0) continue;
      for (let b = segments.firstBlock[s]; b < segments.firstBlock[s + 1]; b++) {
        const asked = blocks.requestedBytes[b];
        const own = rounded(asked);
        if (blocks.state[b] === BlockState.Inactive || own === rounded(asked + ASCEND_PADDING))
          continue;
        if (blocks.sizeBytes[b] === own) plain++;
        else if (blocks.sizeBytes[b] === own + 512) padded++;
      }
    }
  }
  return { padded, plain };
}

/** The same from allocations whose successor in memory shows where they end. */
function votesOfEvents(devices: readonly DeviceTrace[]): Votes {
  let padded = 0;
  let plain = 0;
  for (const { events } of devices) {
    const starts = new Set(events.address.filter((_, t) => events.action[t] === TraceAction.Alloc));
    for (let t = 0; t < events.length; t++) {
      if (events.action[t] !== TraceAction.Alloc) continue;
      const asked = events.sizeBytes[t];
      const own = rounded(asked);
      if (own === rounded(asked + ASCEND_PADDING)) continue;
      if (starts.has(events.address[t] + own)) plain++;
      else if (starts.has(events.address[t] + own + 512)) padded++;
    }
  }
  return { padded, plain };
}

/** page_size:1g, which no setting in the file tells. */
function hasGibPages(devices: readonly DeviceTrace[]): boolean {
  const sizes = devices.flatMap(({ segments }) => [
    ...segments.totalBytes.filter(
      (_, s) => segments.isExpandable[s] === 1 && segments.isSmall[s] === 0,
    ),
  ]);
  return sizes.length > 0 && sizes.every((bytes) => bytes % GIB === 0);
}

/**
 * Takes Ascend's workspaces off the front of a trace: three events for each, written when the snapshot is taken. They
 * are no memory of the caching allocator, and their segments say that nothing in them is in use.
 */
export function takeWorkspaces(all: EventTable, runs: readonly EventRun[]) {
  const workspaces: Workspace[] = [];
  const [{ first, count } = { first: 0, count: 0 }, ...rest] = runs;
  let at = first;
  while (
    at + WORKSPACE_EVENTS <= first + count &&
    all.unknownActions.get(at) === WORKSPACE_ACTION
  ) {
    workspaces.push({
      address: all.address[at],
      sizeBytes: all.sizeBytes[at],
      stream: all.stream[at],
    });
    at += WORKSPACE_EVENTS;
  }
  const left = at === first ? runs : [{ first: at, count: first + count - at }, ...rest];
  return { workspaces, runs: left };
}

/** What each vendor calls its devices, and what is known of its allocator. docs/devices.md says how files are recognised. */
import { sumBy } from '../../base/collections.ts';
import { formatBytes, plural, withArticle } from '../../base/format.ts';
import type { Accelerator, VendorId } from '../../format/snapshot/accelerator.ts';
import type { DeviceTrace, SnapshotWarning } from '../../format/snapshot/tables.ts';

interface Vendor {
  /** 'Ascend NPU' */
  readonly name: string;
  /** PyTorch's word for the device, as in 'npu:0'. */
  readonly device: string;
  /** Where its memory functions are: 'torch.npu'. */
  readonly module: string;
  /** The environment variables with the allocator's settings: today's, and an older one. */
  readonly variables: readonly [string, string?];
  readonly tool: string;
  /** Chooses the devices that a process sees. */
  readonly visible: string | undefined;
  readonly collectives: string;
  /** Its expandable segments are as CUDA's, so they help as much. */
  readonly hasExpandable: boolean;
  /** Whether the simulator knows its allocator. */
  readonly isSimulated: boolean;
}

const NO_TOOL = "your vendor's tool";

const VENDORS: Readonly<Record<VendorId, Vendor>> = {
  rocm: {
    name: 'AMD ROCm',
    device: 'cuda',
    module: 'torch.cuda',
    variables: ['PYTORCH_ALLOC_CONF', 'PYTORCH_HIP_ALLOC_CONF'],
    tool: 'rocm-smi',
    visible: 'HIP_VISIBLE_DEVICES',
    collectives: 'RCCL',
    hasExpandable: true,
    isSimulated: true,
  },
  xpu: {
    name: 'Intel XPU',
    device: 'xpu',
    module: 'torch.xpu',
    variables: ['PYTORCH_ALLOC_CONF'],
    tool: 'xpu-smi',
    visible: 'ZE_AFFINITY_MASK',
    collectives: 'oneCCL',
    hasExpandable: true,
    isSimulated: false,
  },
  npu: {
    name: 'Ascend NPU',
    device: 'npu',
    module: 'torch.npu',
    variables: ['PYTORCH_NPU_ALLOC_CONF'],
    tool: 'npu-smi info',
    visible: 'ASCEND_RT_VISIBLE_DEVICES',
    collectives: 'HCCL',
    hasExpandable: true,
    isSimulated: false,
  },
  musa: {
    name: 'Moore Threads MUSA',
    device: 'musa',
    module: 'torch.musa',
    variables: ['PYTORCH_MUSA_ALLOC_CONF'],
    tool: 'mthreads-gmi',
    visible: 'MUSA_VISIBLE_DEVICES',
    collectives: 'MCCL',
    hasExpandable: true,
    isSimulated: false,
  },
  mlu: {
    name: 'Cambricon MLU',
    device: 'mlu',
    module: 'torch.mlu',
    variables: ['PYTORCH_MLU_ALLOC_CONF'],
    tool: 'cnmon',
    visible: 'MLU_VISIBLE_DEVICES',
    collectives: 'CNCL',
    hasExpandable: false,
    isSimulated: false,
  },
  unknown: {
    name: 'unknown device',
    device: 'device',
    module: 'torch.accelerator',
    variables: ['PYTORCH_ALLOC_CONF'],
    tool: NO_TOOL,
    visible: undefined,
    collectives: 'collectives',
    hasExpandable: false,
    isSimulated: false,
  },
};

interface Known {
  readonly accelerator?: Pick<Accelerator, 'vendor'> | undefined;
}

/** Undefined for CUDA's devices. */
const vendorOf = ({ accelerator }: Known): Vendor | undefined =>
  accelerator && VENDORS[accelerator.vendor];

export const vendorName = (trace: Known): string | undefined => vendorOf(trace)?.name;

/** 'cuda:0', 'npu:0' */
export const deviceTitle = (trace: Known & Pick<DeviceTrace, 'kind' | 'device'>): string =>
  trace.kind === 'host' ? 'host (pinned)' : `${vendorOf(trace)?.device ?? 'cuda'}:${trace.device}`;

/** Why no run can be simulated; undefined if one can. */
export function whyNotSimulated(trace: Known & Pick<DeviceTrace, 'kind'>): string | undefined {
  const vendor = vendorOf(trace);
  if (vendor === undefined || vendor.isSimulated) return undefined;
  return `What if simulates CUDA's allocator. This file is from ${withArticle(vendor.name)}, whose allocator differs or has not been compared with real runs, so nothing is predicted for it.`;
}

/** Words of CUDA, and what other vendors say. The longer ones come first. */
const WORDS: readonly (readonly [RegExp, (vendor: Vendor) => string])[] = [
  [
    / \(PYTORCH_CUDA_ALLOC_CONF in older versions\)/g,
    ({ variables: [, older] }) => (older === undefined ? '' : ` (${older} in older versions)`),
  ],
  [/PYTORCH_(?:CUDA_)?ALLOC_CONF/g, ({ variables: [name] }) => name],
  [/nvidia-smi(?: \(rocm-smi, xpu-smi\))?/g, ({ tool }) => tool],
  [
    / with CUDA_VISIBLE_DEVICES/g,
    ({ visible }) => (visible === undefined ? '' : ` with ${visible}`),
  ],
  [/torch\.cuda\./g, ({ module }) => `${module}.`],
  [/\bNCCL\b/g, ({ collectives }) => collectives],
  [/\bCUDA (?=graphs?\b)/g, () => ''],
  [/\bcudaMalloc\b/g, () => "the driver's allocation"],
  [/\bcudaFree\b/g, () => "the driver's free"],
  [/\bCUDA\b/g, ({ name }) => name],
  [/\bGPU(?=s?\b)/g, () => 'device'],
];

/** A text about CUDA's devices, in the words of the device's vendor. */
export function inWordsOf(trace: Known, text: string): string {
  const vendor = vendorOf(trace);
  if (vendor === undefined || vendor === VENDORS.rocm) return text;
  return WORDS.reduce((told, [word, own]) => told.replace(word, () => own(vendor)), text);
}

/** Advice that helps on this device, in its words: without settings that it lacks, and without CUDA's libraries. */
export const helpsOn = (trace: Known, text: string): boolean => {
  const vendor = vendorOf(trace);
  if (vendor === undefined || vendor === VENDORS.rocm) return true;
  return !/cudnn/i.test(text) && (vendor.hasExpandable || !text.includes('expandable_segments'));
};

/** What the reader should know of devices that are not CUDA's. Those of one file are alike. */
export function deviceWarnings(devices: readonly DeviceTrace[]): SnapshotWarning[] {
  const known = devices.find(({ accelerator }) => accelerator !== undefined)?.accelerator;
  if (known === undefined) return [];
  const { name } = VENDORS[known.vendor];
  const device = known.vendor === 'unknown' ? 'a device that vramscope does not know' : name;
  const messages = [
    `Memory of ${device}, recognised by ${known.evidence}. ${KNOWN[known.vendor](known)}`,
    ...devices.flatMap(workspacesText),
  ];
  return messages.map((message) => ({ code: 'device', message }));
}

const AS_CUDA = "Its allocator rounds and reserves as CUDA's does.";

const KNOWN: Readonly<Record<VendorId, (accelerator: Accelerator) => string>> = {
  rocm: () => "It uses CUDA's allocator.",
  xpu: () => AS_CUDA,
  npu: ({ paddingBytes, isPaddingKnown }) => {
    const adds =
      paddingBytes > 0 ? 'adds 32 bytes before it rounds' : 'adds nothing before it rounds';
    const how = isPaddingKnown
      ? `as the blocks show`
      : 'which is assumed: no block in this file shows it';
    return `Its allocator ${adds}, ${how}. The file has neither times nor settings: defaults are assumed.`;
  },
  musa: () => AS_CUDA,
  mlu: () =>
    "Its allocator rounds as CUDA's does and reserves at least 32 MiB at a time. use_linear_memory, which rounds to powers of two, can't be seen in a file and is not assumed.",
  unknown: () => "Its rules are unknown: block sizes assume CUDA's rounding.",
};

/** Bytes that operators of the device hold beside the caching allocator. */
export const workspaceBytes = ({ accelerator }: Pick<DeviceTrace, 'accelerator'>): number =>
  sumBy(accelerator?.workspaces ?? [], ({ sizeBytes }) => sizeBytes);

function workspacesText(trace: DeviceTrace): string[] {
  const count = trace.accelerator?.workspaces.length ?? 0;
  if (count === 0) return [];
  return [
    `Device ${trace.device} has ${formatBytes(workspaceBytes(trace))} more in ${plural(count, 'workspace')} of operators, outside the caching allocator and its counters.`,
  ];
}

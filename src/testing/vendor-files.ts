/**
 * Snapshots in the form of each vendor's PyTorch, from its sources, with what its own counters said. The allocator here
 * is written from those sources, not from src/allocator, and plays the same program on every device.
 *
 * Read, Nov 2026:
 * - XPU: pytorch, c10/xpu/XPUCachingAllocator.cpp (round_size, should_split), torch/csrc/xpu/Module.cpp
 *   (_xpu_memorySnapshot: keys and their order), torch/xpu/memory.py (_dump_snapshot: pickle.dump).
 * - Ascend: Ascend/pytorch 9e73e708a, torch_npu/csrc/core/npu/NPUCachingAllocator.cpp (AddPadSize, round_size,
 *   get_allocation_size, IsMallocPage1GMem), NPUWorkspaceAllocator.cpp (get_trace, get_segm),
 *   torch_npu/csrc/npu/Module.cpp (THNPModule_memorySnapshot puts workspaces in front of the trace).
 * - MUSA: MooreThreads/torch_musa 8b583b3, torch_musa/csrc/core/MUSACachingAllocator.cpp, Module.cpp (PyMusaMemorySnapshot).
 * - Cambricon: Cambricon/torch_mlu d578002, torch_mlu/csrc/framework/core/caching_allocator.cpp (getAllocationSize,
 *   get_pool), torch_mlu/csrc/python/Module.cpp.
 */
import { type PickleValue, Tuple, writePickle } from './write-pickle.ts';

const KI = 1024;
const MI = KI * KI;
const GI = KI * MI;

export const VENDOR_FILES = [
  'cuda',
  'hip',
  'xpu',
  'npu',
  'npu950',
  'npu1g',
  'musa',
  'mlu',
  'other',
] as const;
export type VendorFile = (typeof VENDOR_FILES)[number];

interface Rules {
  /** Added to a request before it is rounded to 512 bytes. */
  readonly pad: number;
  /** Bytes taken from the device for a rounded request. */
  readonly segment: (rounded: number) => number;
  /** A block of this size and more is never split. */
  readonly maxSplit: number;
}

const up = (bytes: number, step: number): number => Math.ceil(bytes / step) * step;

const usual = (bytes: number): number => {
  if (bytes <= MI) return 2 * MI;
  return bytes < 10 * MI ? 20 * MI : up(bytes, 2 * MI);
};
const cambricon = (bytes: number): number => {
  if (bytes <= 16 * MI) return 32 * MI;
  return bytes < 32 * MI ? 64 * MI : up(bytes, 2 * MI);
};

const PLAIN: Rules = { pad: 0, segment: usual, maxSplit: Infinity };
const RULES: Readonly<Record<VendorFile, Rules>> = {
  cuda: PLAIN,
  hip: PLAIN,
  xpu: PLAIN,
  npu: { ...PLAIN, pad: 32 },
  npu950: PLAIN,
  npu1g: { ...PLAIN, pad: 32, segment: (bytes) => (bytes <= MI ? 2 * MI : up(bytes, GI)) },
  musa: { ...PLAIN, maxSplit: 64 * MI },
  mlu: { ...PLAIN, segment: cambricon },
  other: PLAIN,
};

interface Block {
  address: number;
  size: number;
  requested: number;
  state: 'active_allocated' | 'active_pending_free' | 'inactive';
  frames: readonly PickleValue[];
}

interface Segment {
  readonly isSmall: boolean;
  readonly address: number;
  readonly size: number;
  readonly blocks: Block[];
}

interface TraceEntry {
  readonly action: string;
  readonly addr: number;
  readonly size: number;
  readonly frames?: readonly PickleValue[];
}

/** Figures as memory_stats() of the device has them: now, and the most ever. */
export interface VendorTruth {
  readonly end: Readonly<Record<'allocated' | 'active' | 'reserved' | 'requested', number>>;
  readonly peak: Readonly<Record<'allocated' | 'active' | 'reserved' | 'requested', number>>;
  readonly workspaceBytes: number;
}

class Allocator {
  readonly segments: Segment[] = [];
  readonly trace: TraceEntry[] = [];
  readonly #rules: Rules;
  #next: number;
  readonly now = { allocated: 0, active: 0, reserved: 0, requested: 0 };
  readonly peak = { allocated: 0, active: 0, reserved: 0, requested: 0 };

  constructor(rules: Rules, base: number) {
    this.#rules = rules;
    this.#next = base;
  }

  alloc(requested: number, frames: readonly PickleValue[]): Block {
    const size = Math.max(512, up(requested + this.#rules.pad, 512));
    const isSmall = size <= MI;
    const { maxSplit } = this.#rules;
    const fits = this.segments
      .filter((segment) => segment.isSmall === isSmall)
      .flatMap((segment) => segment.blocks.map((block) => ({ segment, block })))
      .filter(({ block }) => block.state === 'inactive' && block.size >= size)
      .sort((a, b) => a.block.size - b.block.size || a.block.address - b.block.address);
    const best = fits[0];
    const isAllowed =
      best !== undefined &&
      (size < maxSplit ? best.block.size < maxSplit : best.block.size < size + 20 * MI);
    const { segment, block } = isAllowed ? best : this.#grow(size, isSmall, frames);
    const rest = block.size - size;
    if (isSmall ? rest >= 512 : size < maxSplit && rest > MI) {
      const at = segment.blocks.indexOf(block) + 1;
      const free = {
        address: block.address + size,
        size: rest,
        requested: 0,
        state: 'inactive',
        frames: [],
      } as Block;
      segment.blocks.splice(at, 0, free);
      block.size = size;
    }
    Object.assign(block, { state: 'active_allocated', requested, frames });
    this.trace.push({ action: 'alloc', addr: block.address, size: requested, frames });
    this.#add(block, 1);
    return block;
  }

  free(block: Block, frames: readonly PickleValue[]): void {
    this.trace.push({
      action: 'free_requested',
      addr: block.address,
      size: block.requested,
      frames,
    });
    this.trace.push({
      action: 'free_completed',
      addr: block.address,
      size: block.requested,
      frames,
    });
    this.#add(block, -1);
    Object.assign(block, { state: 'inactive', frames: [] });
    for (const { blocks } of this.segments) {
      for (let i = blocks.length - 1; i > 0; i--) {
        if (blocks[i].state !== 'inactive' || blocks[i - 1].state !== 'inactive') continue;
        blocks[i - 1].size += blocks[i].size;
        blocks.splice(i, 1);
      }
    }
  }

  emptyCache(frames: readonly PickleValue[]): void {
    for (const segment of [...this.segments]) {
      if (segment.blocks.length > 1 || segment.blocks[0].state !== 'inactive') continue;
      this.segments.splice(this.segments.indexOf(segment), 1);
      this.trace.push({
        action: 'segment_free',
        addr: segment.address,
        size: segment.size,
        frames,
      });
      this.now.reserved -= segment.size;
    }
  }

  oom(requested: number, frames: readonly PickleValue[]): void {
    const size = Math.max(512, up(requested + this.#rules.pad, 512));
    this.trace.push({ action: 'oom', addr: 3 * GI, size, frames });
  }

  #grow(size: number, isSmall: boolean, frames: readonly PickleValue[]) {
    const bytes = this.#rules.segment(size);
    const block: Block = {
      address: this.#next,
      size: bytes,
      requested: 0,
      state: 'inactive',
      frames: [],
    };
    const segment = { isSmall, address: this.#next, size: bytes, blocks: [block] };
    this.#next += up(bytes, 2 * GI);
    this.segments.push(segment);
    this.trace.push({ action: 'segment_alloc', addr: segment.address, size: bytes, frames });
    this.now.reserved += bytes;
    this.peak.reserved = Math.max(this.peak.reserved, this.now.reserved);
    return { segment, block };
  }

  #add({ size, requested }: Block, sign: 1 | -1): void {
    this.now.allocated += sign * size;
    this.now.active += sign * size;
    this.now.requested += sign * requested;
    for (const name of ['allocated', 'active', 'requested'] as const)
      this.peak[name] = Math.max(this.peak[name], this.now[name]);
  }
}

const frame = (name: string, line: number, filename = '/workspace/train.py') => ({
  filename,
  line,
  name,
});
const STEP = [frame('forward', 21), frame('step', 40), frame('<module>', 60)];
const KEPT = [frame('remember', 33), frame('step', 44), frame('<module>', 60)];

/** A model, steps with activations that are freed, a kept output a step, and at the end a request that fails. */
function play(rules: Rules, base: number, fails: boolean): Allocator {
  const allocator = new Allocator(rules, base);
  for (const bytes of [512, 480, 1000, 3 * MI, 12 * MI, 700 * KI, 40 * MI, 18 * MI, 300 * KI])
    allocator.alloc(bytes, [frame('build', 12), frame('<module>', 55)]);
  for (let step = 0; step < 24; step++) {
    const activations = [512, 1024, 96 * KI, 5 * MI + 512, 17 * MI, 100 * MI, 24 * MI - 32];
    const blocks = activations.map((bytes) => allocator.alloc(bytes, STEP));
    allocator.alloc(2 * MI, KEPT);
    allocator.alloc(1536, KEPT);
    for (const block of step % 2 === 0 ? blocks : blocks.reverse()) allocator.free(block, STEP);
    if (step === 11) allocator.emptyCache(STEP);
  }
  if (fails) allocator.oom(6 * GI, STEP);
  return allocator;
}

/** Handles that the vendors write: XPU's is a queue's pointer. */
const STREAMS: Partial<Record<VendorFile, number>> = { xpu: 0x5581_7a2c_4e10, npu: 0x2b0d_4410 };
const BASES: Partial<Record<VendorFile, number>> = { xpu: 0x7f10_0000_0000, npu: 0x12c0_4020_0000 };

const settingsOf = (vendor: VendorFile): { readonly [key: string]: PickleValue } | undefined => {
  const divisions = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [String(2 ** i), 0]));
  const common = (name: string, text: string, maxSplit = -1) => ({
    [name]: text,
    max_split_size: maxSplit,
    garbage_collection_threshold: 0,
    expandable_segments: false,
  });
  const pinned = (words: string) => ({
    pinned_num_register_threads: 1,
    [`release_lock_on_${words}malloc`]: false,
    [`pinned_use_${words}_host_register`]: false,
    roundup_power2_divisions: divisions,
  });
  switch (vendor) {
    case 'cuda':
      return { ...common('PYTORCH_CUDA_ALLOC_CONF', ''), ...pinned('cuda') };
    case 'hip':
      return { ...common('PYTORCH_HIP_ALLOC_CONF', ''), ...pinned('cuda') };
    case 'xpu':
      return { PYTORCH_ALLOC_CONF: '', expandable_segments: false };
    case 'musa':
      return {
        ...common('PYTORCH_MUSA_ALLOC_CONF', 'max_split_size_mb:64', 64 * MI),
        ...pinned('musa'),
      };
    case 'mlu':
      return { ...common('PYTORCH_MLU_ALLOC_CONF', ''), roundup_power2_divisions: divisions };
    case 'other':
      return common('PYTORCH_NEWCHIP_ALLOC_CONF', '');
    default:
      return undefined;
  }
};

const isAscend = (vendor: VendorFile): boolean => vendor.startsWith('npu');
const hasTimes = (vendor: VendorFile): boolean => !isAscend(vendor) && vendor !== 'mlu';
const hasAnnotations = (vendor: VendorFile): boolean => ['cuda', 'hip', 'musa'].includes(vendor);

interface Options {
  readonly fails?: boolean;
  /** Bytes of each stream's workspace (Ascend, TASK_QUEUE_ENABLE=2). */
  readonly workspaces?: readonly number[];
  readonly hasTrace?: boolean;
}

/** The file as its vendor writes it, and what the device's own counters said. */
export function vendorFile(vendor: VendorFile, options: Options = {}) {
  const { fails = false, hasTrace = true } = options;
  const workspaces = isAscend(vendor) ? (options.workspaces ?? [64 * MI]) : [];
  const ascend: VendorFile = isAscend(vendor) ? 'npu' : vendor;
  const stream = STREAMS[ascend] ?? 0;
  const { segments, trace, now, peak } = play(
    RULES[vendor],
    BASES[ascend] ?? 0x7f00_0000_0000,
    fails,
  );
  const entry = (
    { action, addr, size, frames }: TraceEntry,
    at: number,
    own = stream,
  ): PickleValue => ({
    action,
    [action === 'oom' ? 'device_free' : 'addr']: addr,
    size,
    stream: own,
    ...(isAscend(vendor) && { pool_id: new Tuple(0, 0) }),
    ...(hasTimes(vendor) && { time_us: 1_790_000_000_000_000 + 150 * at }),
    // Stacks are gathered first and added last.
    ...(frames !== undefined && { frames }),
  });
  const segment = ({ address, size, isSmall, blocks }: Segment, own = stream): PickleValue => {
    const active = blocks.filter(({ state }) => state !== 'inactive');
    const sum = (name: 'size' | 'requested') =>
      active.reduce((total, block) => total + block[name], 0);
    return {
      device: 0,
      address,
      total_size: size,
      allocated_size: sum('size'),
      active_size: sum('size'),
      requested_size: sum('requested'),
      stream: own,
      segment_type: isSmall ? 'small' : 'large',
      segment_pool_id: new Tuple(0, 0),
      is_expandable: false,
      frames: [],
      blocks: blocks.map((block) => ({
        address: block.address,
        size: block.size,
        requested_size: block.requested,
        state: block.state,
        frames: block.frames,
      })),
    };
  };
  // One workspace a stream, whose block is never marked as allocated: it says inactive.
  const outside = workspaces.map(
    (bytes, i): { readonly own: number; readonly segment: Segment } => {
      const address = 0x12c1_0000_0000 + i * GI;
      const block: Block = {
        address,
        size: bytes,
        requested: bytes - 32,
        state: 'inactive',
        frames: [],
      };
      return {
        own: stream + 64 * i,
        segment: { isSmall: false, address, size: bytes, blocks: [block] },
      };
    },
  );
  const front = outside.flatMap(({ own, segment: { address, size } }) =>
    ['workspace_snapshot', 'segment_alloc', 'alloc'].map((action) =>
      entry({ action, addr: address, size }, 0, own),
    ),
  );
  const settings = settingsOf(vendor);
  const value: { readonly [key: string]: PickleValue } = {
    segments: [
      ...segments.map((one) => segment(one)),
      ...outside.map((one) => segment(one.segment, one.own)),
    ],
    device_traces: [hasTrace ? [...front, ...trace.map((one, at) => entry(one, at))] : []],
    ...(settings !== undefined && { allocator_settings: settings }),
    ...(hasAnnotations(vendor) && { external_annotations: [] }),
  };
  const workspaceBytes = workspaces.reduce((sum, bytes) => sum + bytes, 0);
  const truth: VendorTruth = { end: now, peak, workspaceBytes };
  return { value, bytes: writePickle(value), truth, events: trace.length };
}

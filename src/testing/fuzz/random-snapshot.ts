/** Small snapshots: correct ones, and ones with a few errors. */
import { Dict, dict, Float, list, type Py, Seq } from './py-values.ts';
import type { Random } from './random.ts';

const BASE = 0x7f00_0000_0000n;
const ACTIONS = ['alloc', 'free_requested', 'free_completed', 'segment_alloc', 'segment_free'];
const RARE_ACTIONS = ['segment_map', 'segment_unmap', 'snapshot', 'oom', 'annotate', 'odd'];
const STATES = ['active_allocated', 'inactive', 'active_pending_free', 'active_awaiting_free'];

/** Values that nobody expects. */
const ODD: readonly (() => Py)[] = [
  () => null,
  () => true,
  () => 0n,
  () => -1n,
  () => -512n,
  () => 2n ** 31n,
  () => 2n ** 53n,
  () => 2n ** 63n,
  () => 2n ** 64n - 1n,
  () => 2n ** 70n,
  () => new Float(Number.NaN),
  () => new Float(Number.POSITIVE_INFINITY),
  () => new Float(0.5),
  () => new Float(-512),
  () => new Float(1024),
  () => new Float(1e300),
  () => '',
  () => '512',
  () => 'alloc',
  () => 'a\u001b[2J\u202e\u2028',
  () => 'x'.repeat(300),
  () => 'long/'.repeat(20_000),
  () => `a\u{e0041}\u200b@octocat #1 https://x.example`,
  () => list(),
  () => list(1n, 'a'),
  () => dict({}),
  () => dict({ name: 'f', filename: 'f.py', line: 1n }),
  () => dict({ action: 'alloc', addr: BASE, size: 512n, stream: 0n }),
  () => dict({ size: 512n, state: 'inactive' }),
  () => new Seq('tuple', []),
  () => new Seq('tuple', [0n, 0n]),
  () => new Seq('set', ['a']),
];

export function randomSnapshot(random: Random): Py {
  const frames = Array.from({ length: 1 + random.below(4) }, (_, i) =>
    dict({ name: `f${i}`, filename: random.pick(['train.py', 'model.py']), line: BigInt(i) }),
  );
  const stacks = Array.from({ length: 3 }, () =>
    list(...Array.from({ length: random.below(4) }, () => random.pick(frames))),
  );
  const devices = 1 + random.below(2);
  const traces = Array.from({ length: devices }, () =>
    list(...Array.from({ length: random.below(24) }, (_, i) => event(random, stacks, i))),
  );
  const segments = Array.from({ length: random.below(4) }, (_, i) =>
    segment(random, stacks, BigInt(i), BigInt(random.below(devices))),
  );
  if (random.chance(0.1)) contradict(random, segments);
  const top = dict({
    segments: list(...segments),
    device_traces: list(...traces),
    allocator_settings: dict({ PYTORCH_CUDA_ALLOC_CONF: '', expandable_segments: false }),
    external_annotations: list(
      dict({ stage: 'START', name: 'step', device: 0n, time_us: 1000n }),
      dict({ stage: 'END', name: 'step', device: 0n, time_us: 2000n }),
    ),
  });
  if (random.chance(0.2)) top.pairs.push(['memory_ledger', ledger(random)]);
  if (random.chance(0.2)) top.pairs.push(['source_files', source(random)]);
  if (random.chance(0.05)) return list(...segments);
  if (random.chance(0.05)) return dict({ rank: 0n, snapshot: top });
  return top;
}

function ledger(random: Random): Py {
  const bytes = (below: number) => BigInt(random.below(below)) * 512n;
  const sample = () =>
    dict({
      time_us: BigInt(1_700_000_000_000_000 + random.below(1000) - 100),
      device: 0n,
      moment: random.pick(['start', 'interval', 'oom', 'dump']),
      free: bytes(1000),
      total: 512_000n,
      allocated: bytes(100),
      reserved: 51_200n,
      process: bytes(300),
      others: list(dict({ pid: 7n, bytes: bytes(10) })),
      communicators: list(dict({ group: 'tp', backend: 'nccl', bytes: bytes(10) })),
      pools: list(dict({ pool: poolId(random), reserved: bytes(10), allocated: 0n })),
    });
  const samples = list(...Array.from({ length: random.below(4) }, sample));
  return dict({ version: 1n, samples, missing: dict({ context: 'CUDA was started before' }) });
}

function source(random: Random): Py {
  const file = () =>
    dict({
      filename: random.pick(['train.py', 'model.py']),
      sha256: 'c0ffee'.repeat(11).slice(0, 64),
      text: 'line()\n'.repeat(random.below(9)),
      changed: random.chance(0.5),
    });
  const files = list(...Array.from({ length: random.below(4) }, file));
  return dict({ version: 1n, files, missing: dict({ 'other.py': 'no such file' }) });
}

function event(random: Random, stacks: readonly Py[], i: number): Dict {
  const action = random.pick(random.chance(0.01) ? RARE_ACTIONS : ACTIONS);
  const fields: [string, Py][] = [
    ['action', action],
    [action === 'oom' ? 'device_free' : 'addr', BASE + 512n * BigInt(random.below(8))],
    ['size', 512n * BigInt(1 + random.below(8))],
    ['stream', BigInt(random.chance(0.1) ? random.below(100_000) : random.below(3))],
    ['time_us', BigInt(1_700_000_000_000_000 + i * 10)],
  ];
  if (random.chance(0.8)) fields.push(['frames', random.pick(stacks)]);
  if (random.chance(0.3)) fields.push(['pool_id', poolId(random)]);
  if (random.chance(0.2)) fields.push(['category', random.pick(['', 'GRADIENT', 'PARAMETER'])]);
  return new Dict(fields);
}

function poolId(random: Random): Py {
  return new Seq('tuple', [
    BigInt(random.below(2)),
    BigInt(random.below(random.chance(0.1) ? 1000 : 3)),
  ]);
}

/**
 * Segments that no allocator makes: duplicate, nested, without address; blocks outside, or smaller than requested.
 */
function contradict(random: Random, segments: Dict[]): void {
  const one = random.pick(segments);
  if (one === undefined) return;
  const blocks = one.pairs.find(([key]) => key === 'blocks')?.[1];
  const block = blocks instanceof Seq ? random.pick(blocks.items) : undefined;
  const set = (of: Py | undefined, name: string, value: Py) => {
    const pair = of instanceof Dict ? of.pairs.find(([key]) => key === name) : undefined;
    if (pair !== undefined) pair[1] = value;
  };
  switch (random.below(5)) {
    case 0:
      segments.push(one, one);
      return;
    case 1:
      set(one, 'total_size', random.pick([0n, 512n, 2n ** 40n, 2n ** 52n]));
      return;
    case 2:
      set(block, 'address', random.pick([0n, BASE - 512n, BASE + 2n ** 40n]));
      return;
    case 3:
      set(block, 'requested_size', random.pick([2n ** 45n, 2n ** 53n - 1n]));
      return;
    default:
      one.pairs.splice(
        one.pairs.findIndex(([key]) => key === 'address'),
        1,
      );
  }
}

function segment(random: Random, stacks: readonly Py[], i: bigint, device: bigint): Dict {
  const address = BASE + i * 2n ** 21n;
  const sizes = Array.from({ length: random.below(4) }, () => 512n * BigInt(1 + random.below(4)));
  let at = address;
  const blocks = sizes.map((size) => {
    const block = dict({
      address: at,
      size,
      requested_size: size - 12n,
      state: random.pick(STATES),
      frames: random.pick(stacks),
    });
    at += size;
    return block;
  });
  return dict({
    device,
    address,
    total_size: 2n ** 21n,
    allocated_size: 0n,
    active_size: 0n,
    requested_size: 0n,
    stream: 0n,
    segment_type: 'small',
    segment_pool_id: random.chance(0.2) ? poolId(random) : new Seq('tuple', [0n, 0n]),
    is_expandable: false,
    frames: random.pick(stacks),
    blocks: list(...blocks),
  });
}

/** Changes a value in a few places: other types; keys dropped, duplicated or of another type; shared items. */
export function spoil(random: Random, value: Py, places: number): void {
  for (let i = 0; i < places; i++) {
    const holders = holdersIn(value);
    const holder = random.pick(holders);
    if (holder instanceof Seq) spoilSeq(random, holder, holders);
    else if (holder !== undefined) spoilDict(random, holder, holders);
  }
}

function spoilSeq(random: Random, { items }: Seq, holders: readonly (Seq | Dict)[]): void {
  const at = random.below(items.length + 1);
  const item = random.chance(0.3) ? random.pick(holders) : random.pick(ODD)();
  if (random.chance(0.5)) items[at] = item;
  else items.splice(at, random.chance(0.5) ? 1 : 0, item);
}

function spoilDict(random: Random, { pairs }: Dict, holders: readonly (Seq | Dict)[]): void {
  const pair = random.pick(pairs);
  if (pair === undefined || random.chance(0.1)) {
    pairs.push([random.pick(['extra', 'size', 'category', 'frames']), random.pick(ODD)()]);
    return;
  }
  switch (random.below(7)) {
    case 0:
      pairs.splice(pairs.indexOf(pair), 1);
      return;
    case 1:
      pairs.splice(random.below(pairs.length), 0, [pair[0], random.pick(ODD)()]);
      return;
    case 2:
      pair[0] = random.pick(ODD)();
      return;
    case 3:
      pair[1] = random.pick(holders);
      return;
    default:
      pair[1] = random.pick(ODD)();
  }
}

/** All containers of a value, each once. */
function holdersIn(value: Py): (Seq | Dict)[] {
  const found = new Set<Seq | Dict>();
  const visit = (each: Py | undefined): void => {
    if (!(each instanceof Seq || each instanceof Dict) || found.has(each)) return;
    found.add(each);
    if (each instanceof Seq) each.items.forEach(visit);
    else for (const [key, item] of each.pairs) [key, item].forEach(visit);
  };
  visit(value);
  return [...found];
}

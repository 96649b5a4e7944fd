/**
 * Snapshots drawn as text, for tests that can be read at a glance. Each line is one event; blank lines and `# …` are
 * skipped:
 *
 *   +seg 2Mi small @0x1000000    segment_alloc; also stream=N, pool=1,0
 *   -seg @0x1000000              segment_free
 *   +map 20Mi large @0x2000000   segment_map; a -map of the same form is segment_unmap
 *   +A 512 @train.py:10 forward < main.py:3 main
 *                                alloc named A, its stack innermost first; also stream=N, pool=1,0,
 *                                at=0x1000000, category=gradient. Without a stack it has frames: []
 *   -A                           free_requested and free_completed
 *   -A?  and later  -A!          the two apart
 *   empty                        empty_cache: segment_free and segment_unmap of everything unused
 *   oom 4Ki free=128 @train.py:10 forward
 *                                frames: [] after a bare @, no frames without an @
 *   snapshot
 *   begin NAME, end NAME         annotation, at the time of the next event
 *   set max_split_size=134217728
 *                                allocator setting; it applies from the beginning
 *   device 1                     what follows happens on that device (0 before)
 *   record                       recording starts here: what comes before has no events or stacks
 *   ring                         the same, but the ring dropped the events: everything was recorded, so the
 *                                stacks stay. PyTorch's own statement: set trace_alloc_overflowed=true
 *   dump                         the trace ends here; what follows shows only in the segments
 *
 * Sizes are bytes or Ki, Mi, Gi. A block lies where the allocator would put it (best fit). One that fits nowhere gets
 * a new segment first (mapped pages after `set expandable_segments=true`). Events are 10 us apart.
 */
import type { Counters } from '../allocator/replay/types.ts';
import { snapshotFromValue } from '../format/snapshot/from-value.ts';
import type { Snapshot } from '../format/snapshot/tables.ts';
import {
  isSmallRequest,
  NaiveAllocator,
  type NaiveBlock,
  type NaiveSegment,
  RESERVED,
  type SegmentPlace,
  segmentBytes,
  segmentBytesFor,
} from './naive-allocator.ts';

export interface DrawnSnapshot {
  readonly snapshot: Snapshot;
  /** First event of a line, by its first word ('+A', '-A', 'oom'); `nth` counts such lines from 0. */
  eventOf(word: string, nth?: number): number;
  /** Address of the last block drawn under a name. */
  addressOf(name: string): number;
  /** The allocator's counters by device: entry 0 before the trace, entry t + 1 after event t. */
  readonly counters: readonly (readonly Counters[])[];
}

type Entry = Readonly<Record<string, unknown>>;
type Frames = readonly object[] | undefined;

const FIRST_ADDRESS = 0x7f0000000000;

/** @throws Error with the line if the text says something impossible, such as a free of an unknown name */
export function snapshotFromText(text: string): DrawnSnapshot {
  const drawing = new Drawing();
  for (const line of text.split('\n').map((raw) => raw.replace(/(^|\s)#.*/, '').trim())) {
    if (line !== '') drawing.draw(line);
  }
  return drawing.finish();
}

class DrawnDevice {
  readonly allocator = new NaiveAllocator();
  readonly blocks = new Map<string, NaiveBlock>();
  entries: Entry[] = [];
  counters: Counters[] = [this.allocator.counters()];
}

class Drawing {
  readonly #devices = [new DrawnDevice()];
  readonly #settings: Record<string, unknown> = {};
  readonly #annotations: Entry[] = [];
  readonly #words = new Map<string, number[]>();
  readonly #addresses = new Map<string, number>();
  #device = this.#devices[0];
  #time = 1000;
  /** End of the pages mapped so far, by place. */
  readonly #mappedUpTo = new Map<string, number>();
  #nextAddress = FIRST_ADDRESS;
  #isDumped = false;

  draw(line: string): void {
    const [word, ...rest] = line.split(/\s+/);
    const first = this.#device.entries.length;
    try {
      this.#drawWord(word, rest);
    } catch (error) {
      throw new Error(`In the line "${line}": ${String(error)}`);
    }
    const drawn = this.#device.entries.length;
    // An alloc may add a segment first; the event that its line means is the last one.
    const event = word.startsWith('+') ? drawn - 1 : first;
    if (drawn > first) this.#words.set(word, [...(this.#words.get(word) ?? []), event]);
  }

  finish(): DrawnSnapshot {
    const value = {
      segments: this.#devices.flatMap((device, d) =>
        device.allocator.segments.map((segment) => segmentEntry(segment, d)),
      ),
      device_traces: this.#devices.map((device) => device.entries),
      allocator_settings: this.#settings,
      external_annotations: this.#annotations,
    };
    return {
      snapshot: snapshotFromValue(value),
      eventOf: (word, nth = 0) => known(this.#words.get(word)?.[nth], word),
      addressOf: (name) => known(this.#addresses.get(name), name),
      counters: this.#devices.map((device) => device.counters),
    };
  }

  #drawWord(word: string, rest: readonly string[]): void {
    const name = word.slice(1).replace(/[?!]$/, '');
    if (word === 'device') this.#selectDevice(Number(rest[0]));
    else if (word === 'set') this.#set(rest.join(' '));
    else if (word === 'begin' || word === 'end') this.#annotate(word, rest.join(' '));
    else if (word === 'record' || word === 'ring' || word === 'dump') this.#limitTrace(word);
    else if (word === 'empty') this.#emptyCache();
    else if (word === 'snapshot') this.#record({ action: 'snapshot', addr: 0, size: 0 });
    else if (word === 'oom') {
      const device_free = bytesOf(field(rest, 'free') ?? '0');
      const frames = framesOf(rest);
      this.#record({
        action: 'oom',
        size: bytesOf(rest[0]),
        device_free,
        ...(frames && { frames }),
      });
    } else if (word === '+seg' || word === '+map') this.#grow(word === '+map', rest);
    else if (word === '-seg' || word === '-map') this.#shrink(word === '-map', rest);
    else if (word.startsWith('+')) this.#alloc(name, rest);
    else if (word.startsWith('-')) this.#free(name, word);
    else throw new Error(`unknown word ${word}`);
  }

  #alloc(name: string, rest: readonly string[]): void {
    const { allocator, blocks } = this.#device;
    const bytes = bytesOf(rest[0]);
    const frames = framesOf(rest) ?? [];
    const place = { ...streamAndPool(rest), isSmall: isSmallRequest(bytes) };
    const at = field(rest, 'at');
    if (at === undefined && allocator.bestFit(bytes, place) === undefined) {
      this.#growFor(bytes, place, frames);
    }
    const wanted = allocator.segments
      .flatMap((s) => s.blocks)
      .find((b) => b.address === Number(at) && b.state === 'inactive');
    const block = known(at === undefined ? allocator.bestFit(bytes, place) : wanted, name);
    if (typeof this.#settings.max_split_size === 'number')
      allocator.maxSplitBytes = this.#settings.max_split_size;
    allocator.take(block, bytes, frames);
    blocks.set(name, block);
    this.#addresses.set(name, block.address);
    const category = field(rest, 'category');
    this.#record({
      action: 'alloc',
      addr: block.address,
      size: bytes,
      stream: place.stream,
      frames,
      ...(category === undefined ? {} : { category }),
    });
  }

  #free(name: string, word: string): void {
    const { allocator, blocks } = this.#device;
    const block = known(blocks.get(name), name);
    const { address: addr, requestedBytes: size } = block;
    const stream = allocator.segments.find((s) => s.blocks.includes(block))?.stream ?? 0;
    if (!word.endsWith('!')) {
      allocator.requestFree(block);
      this.#record({ action: 'free_requested', addr, size, stream, frames: [] });
    }
    if (!word.endsWith('?')) {
      allocator.completeFree(block);
      this.#record({ action: 'free_completed', addr, size, stream, frames: [] });
    }
  }

  /** A segment for a request; under expandable_segments, new pages behind the pool's last ones. */
  #growFor(bytes: number, place: Omit<SegmentPlace, 'isExpandable'>, frames: Frames): void {
    const isExpandable = this.#settings.expandable_segments === true;
    const key = JSON.stringify([this.#devices.indexOf(this.#device), place]);
    const last = isExpandable ? this.#mappedUpTo.get(key) : undefined;
    const address = last ?? this.#nextAddress;
    if (last === undefined) this.#nextAddress += RESERVED;
    const page = segmentBytesFor(place.isSmall ? 1 : 2 * 2 ** 20);
    const size = isExpandable
      ? Math.ceil(Math.max(bytes, 1) / page) * page
      : segmentBytesFor(bytes);
    if (isExpandable) this.#mappedUpTo.set(key, address + size);
    this.#addMemory(address, size, { ...place, isExpandable }, frames);
  }

  #emptyCache(): void {
    for (const { address, bytes, isExpandable } of this.#device.allocator.releasable()) {
      this.#shrink(isExpandable, [String(bytes), `@0x${address.toString(16)}`]);
    }
  }

  #grow(isMap: boolean, rest: readonly string[]): void {
    const place = { ...streamAndPool(rest), isSmall: rest.includes('small'), isExpandable: isMap };
    this.#addMemory(addressIn(rest), bytesOf(rest[0]), place, framesOf(rest));
  }

  #addMemory(addr: number, size: number, place: SegmentPlace, frames: Frames): void {
    this.#device.allocator.grow(addr, size, place, frames);
    const action = place.isExpandable ? 'segment_map' : 'segment_alloc';
    this.#record({ action, addr, size, stream: place.stream, frames: frames ?? [] });
  }

  #shrink(isMap: boolean, rest: readonly string[]): void {
    const { allocator } = this.#device;
    const addr = addressIn(rest);
    const holds = (s: NaiveSegment) => s.address <= addr && addr < s.address + segmentBytes(s);
    const segment = known(allocator.segments.find(holds), rest.join(' '));
    const size = isMap ? bytesOf(rest[0]) : segmentBytes(segment);
    allocator.shrink(addr, size);
    const action = isMap ? 'segment_unmap' : 'segment_free';
    this.#record({ action, addr, size, stream: segment.stream, frames: [] });
  }

  #record(entry: Entry): void {
    if (this.#isDumped) return;
    const { entries, counters, allocator } = this.#device;
    entries.push({ stream: 0, ...entry, time_us: this.#time });
    counters.push(allocator.counters());
    this.#time += 10;
  }

  #limitTrace(word: 'record' | 'ring' | 'dump'): void {
    this.#isDumped = word === 'dump';
    if (word === 'dump') return;
    this.#words.clear();
    for (const device of this.#devices) {
      device.entries = [];
      device.counters = [device.allocator.counters()];
      if (word === 'ring') continue;
      for (const segment of device.allocator.segments) {
        for (const block of segment.blocks) block.frames = undefined;
      }
    }
  }

  #selectDevice(index: number): void {
    while (this.#devices.length <= index) this.#devices.push(new DrawnDevice());
    this.#device = this.#devices[index];
  }

  #set(assignment: string): void {
    const [key, value] = assignment.split('=');
    this.#settings[key] = JSON.parse(value);
  }

  #annotate(word: 'begin' | 'end', name: string): void {
    const stage = word === 'begin' ? 'START' : 'END';
    const device = this.#devices.indexOf(this.#device);
    this.#annotations.push({ stage, name, device, time_us: this.#time });
  }
}

function segmentEntry(segment: NaiveSegment, device: number): Entry {
  const sum = (of: (block: NaiveBlock) => number) =>
    segment.blocks.reduce((total, block) => total + of(block), 0);
  return {
    device,
    address: segment.address,
    total_size: segmentBytes(segment),
    allocated_size: sum((b) => (b.state === 'active_allocated' ? b.bytes : 0)),
    active_size: sum((b) => (b.state === 'inactive' ? 0 : b.bytes)),
    requested_size: sum((b) => b.requestedBytes),
    stream: segment.stream,
    segment_type: segment.isSmall ? 'small' : 'large',
    segment_pool_id: segment.pool,
    is_expandable: segment.isExpandable,
    frames: segment.frames ?? [],
    blocks: segment.blocks.map((block) => ({
      address: block.address,
      size: block.bytes,
      requested_size: block.requestedBytes,
      state: block.state,
      frames: block.frames ?? [],
    })),
  };
}

/** '4Ki' → 4096. */
function bytesOf(text: string): number {
  const [, digits, unit] = known(/^([\d.]+)([KMG]i)?$/.exec(text) ?? undefined, text);
  return Number(digits) * ({ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 }[unit] ?? 1);
}

function field(rest: readonly string[], key: string): string | undefined {
  return rest.find((part) => part.startsWith(`${key}=`))?.slice(key.length + 1);
}

function addressIn(rest: readonly string[]): number {
  return Number(
    known(
      rest.find((part) => part.startsWith('@0x')),
      'an address',
    ).slice(1),
  );
}

function streamAndPool(rest: readonly string[]): Pick<SegmentPlace, 'stream' | 'pool'> {
  const [capture, handle] = (field(rest, 'pool') ?? '0,0').split(',').map(Number);
  return { stream: Number(field(rest, 'stream') ?? 0), pool: [capture, handle] };
}

/** '@train.py:10 forward < main.py:3 main' → frames, innermost first; undefined without an @FILE. */
function framesOf(rest: readonly string[]): Frames {
  const from = rest.findIndex((part) => part.startsWith('@') && !part.startsWith('@0x'));
  if (from < 0) return undefined;
  const words = rest.slice(from).filter((part) => !part.includes('='));
  if (words.join('') === '@') return [];
  return words
    .join(' ')
    .slice(1)
    .split('<')
    .map((frame) => {
      const [place, name = '<module>'] = frame.trim().split(' ');
      const [filename, line] = place.split(':');
      return { filename, line: Number(line), name };
    });
}

function known<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`${what} is not there`);
  return value;
}

/** Maps PyTorch's dictionaries to sinks by their keys. The only file that knows the format. */
import { fromRows, type RowOf } from '../../base/table.ts';
import { type BoundSink, type DictSink, type Schema, Tag } from '../pickle/types.ts';
import { ValueMachine } from '../pickle/value-machine.ts';
import { EventSink } from './event-sink.ts';
import { FieldReader, Sink } from './field-reader.ts';
import { FrameSink } from './frame-sink.ts';
import { SegmentSink } from './segment-sink.ts';
import { ANNOTATION_COLUMNS, type AnnotationTable } from './tables.ts';

export class SnapshotSchema implements Schema {
  readonly nodeSink = Sink.Frame;
  readonly machine: ValueMachine;
  readonly fields: FieldReader;
  readonly events: EventSink;
  readonly frames: FrameSink;
  readonly segments: SegmentSink;
  readonly #annotations: RowOf<typeof ANNOTATION_COLUMNS>[] = [];

  constructor() {
    this.machine = new ValueMachine(this);
    const { strings, kept } = this.machine;
    this.fields = new FieldReader(kept, this.machine.growth, () => this.machine.byte);
    this.events = new EventSink(strings, kept, this.fields, this.machine.growth);
    this.frames = new FrameSink(strings, kept, this.fields);
    this.segments = new SegmentSink(this.fields, strings);
  }

  bind(keys: readonly string[]): BoundSink | undefined {
    const has = (...wanted: string[]) => wanted.every((key) => keys.includes(key));
    if (has('action') && (has('size') || has('addr') || has('frames'))) {
      return { sink: Sink.Event, take: this.events.bind(keys) };
    }
    if (has('name', 'filename') || has('filename', 'line')) {
      return { sink: Sink.Frame, take: this.frames.bind(keys) };
    }
    if (has('total_size', 'blocks'))
      return { sink: Sink.Segment, take: this.segments.bindSegment(keys) };
    if (has('size', 'state')) return { sink: Sink.Block, take: this.segments.bindBlock(keys) };
    if (has('real_size')) return { sink: Sink.History, take: this.segments.bindHistory(keys) };
    if (has('stage', 'name')) return { sink: Sink.Annotation, take: this.#bindAnnotation(keys) };
    return undefined;
  }

  node(rows: Int32Array, count: number): number {
    return this.frames.node(rows, count);
  }

  addAnnotation(isStart: boolean, name: number, device: number, timeUs: number): number {
    const row = { isStart: Number(isStart), name, device, timeUs };
    return this.#annotations.push(row) - 1;
  }

  /** @param startUs the start of their times */
  annotations(startUs: number): AnnotationTable {
    const table = fromRows(ANNOTATION_COLUMNS, this.#annotations);
    return { ...table, timeUs: table.timeUs.map((timeUs) => timeUs - startUs) };
  }

  #bindAnnotation(keys: readonly string[]): DictSink {
    const offset = (key: string) => keys.lastIndexOf(key) * 2;
    const [stage, name, device, time] = ['stage', 'name', 'device', 'time_us'].map(offset);
    const { strings } = this.machine;
    const start = strings.internText('START');
    return ({ tags, vals }, first) => {
      const has = (at: number) => at >= 0 && tags[first + at] !== Tag.None;
      return this.addAnnotation(
        vals[first + stage] === start,
        tags[first + name] === Tag.String ? vals[first + name] : 0,
        has(device) ? this.fields.device(tags[first + device], vals[first + device]) : -1,
        has(time) ? this.fields.time(tags[first + time], vals[first + time]) : Number.NaN,
      );
    };
  }
}

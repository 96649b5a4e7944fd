import { expect, test } from 'vitest';
import { runToEnd } from '../../base/task.ts';
import { classTotalsAt } from '../../device/classes/classify.ts';
import { MemoryStats } from '../../device/memory-summary/memory-stats.ts';
import { traceFacts } from '../../device/memory-summary/trace-facts.ts';
import { groupAnnotations } from '../../device/model/annotation-groups.ts';
import { annotationSpans } from '../../device/model/annotations.ts';
import { sessionInfo } from '../../device/model/device-info.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { summaryText } from './summary-text.ts';

function textOf(name: string, notes: readonly string[] = []): string {
  const snapshot = loadCapture(name);
  const contexts = contextsOf(snapshot);
  const file = {
    name,
    bytes: 1234,
    container: 'gzip',
    protocol: 4,
    decoder: 'columnar',
    partial: undefined,
  } as const;
  const info = sessionInfo(file, snapshot, contexts);
  const [context] = contexts;
  const plain = { scan: () => ({ max: 0, argmax: 0 }) };
  return summaryText({
    info,
    device: info.devices[0],
    figures: runToEnd(new MemoryStats(context).at(context.trace.events.length)),
    title: 'At the end',
    annotationGroups: groupAnnotations(annotationSpans(context), context.replay, () => plain),
    facts: traceFacts(context),
    notes,
    classes: classTotalsAt(context, context.trace.events.length - 1),
  });
}

test('has the figures, phases, settings and facts about the recording', () => {
  const text = textOf('train_annotated.pickle.gz', ['Mind the gap.']);
  expect(text).toContain('train_annotated.pickle.gz (1,234 bytes), device 0\n\nAt the end\n');
  expect(text).toMatch(/^Allocated memory +65\.00 MiB +827\.35 MiB/m);
  // Two cuBLAS workspaces, which nobody frees.
  expect(text).toMatch(/^workspaces +65\.00 MiB +3$/m);
  expect(text).toMatch(/^## forward ## +4 /m);
  expect(text).toContain("Allocator settings: all at PyTorch's defaults");
  expect(text).toContain('Recording: complete. Nothing was allocated before the first event.');
  expect(text).toContain('157.00 MiB no python stack');
  expect(text).toContain('Note: Mind the gap.');
});

test('names the settings that were changed', () => {
  expect(textOf('whatif_split128/train_gpt_small.pickle.gz')).toContain(
    'Allocator settings that differ from the defaults:\n  PYTORCH_CUDA_ALLOC_CONF = max_split_size_mb:128\n',
  );
});

test('says what a trace does not show', () => {
  const text = textOf('train_ring_truncated.pickle.gz');
  expect(text).toContain('≥');
  expect(text).toContain('Recording: truncated.');
});

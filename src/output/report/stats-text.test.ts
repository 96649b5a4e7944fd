import { describe, expect, test } from 'vitest';
import { jsonText } from '../../base/unprintable.ts';
import { snapshotFromValue } from '../../format/snapshot/from-value.ts';
import { captureNames, loadCapture } from '../../testing/captures.ts';
import { contextsOf, traceOf } from '../../testing/contexts.ts';
import { buildStats } from './stats.ts';
import { statsText } from './stats-text.ts';
import { changedSettings } from './summary-text.ts';
import { printable, terminalText, wrap } from './text.ts';

const FILE = {
  name: 'x.pickle',
  bytes: 1536,
  container: 'gzip',
  protocol: 4,
  decoder: 'columnar',
  partial: undefined,
} as const;
const PLAIN = { columns: 80, color: false };

function textOf(snapshot: ReturnType<typeof snapshotFromValue>, options = PLAIN): string[] {
  const contexts = contextsOf(snapshot);
  return statsText(buildStats(FILE, snapshot, contexts), contexts, options);
}

const MiB = 2 ** 20;
const alloc = { action: 'alloc', addr: 0x2000000, size: 4 * MiB };
const SMALL = snapshotFromValue(
  traceOf(
    { action: 'segment_alloc', addr: 0x2000000, size: 8 * MiB },
    alloc,
    { ...alloc, addr: 0x2400000 },
    { action: 'oom', size: 16 * MiB, device_free: 3 * MiB },
    { ...alloc, action: 'free_requested' },
    { ...alloc, action: 'free_completed' },
  ),
);

test('a summary', () => {
  expect(textOf(SMALL).join('\n')).toBe(
    `
x.pickle
1.5 kB, gzip, pickle protocol 4

Device 0  6 events over 50 µs, recording: from the start

                     at the end         peak     at event
  requested            4.00 MiB     8.00 MiB            2
  allocated            4.00 MiB     8.00 MiB            2
  active               4.00 MiB     8.00 MiB            2
  reserved             8.00 MiB     8.00 MiB            0
  inactive split       4.00 MiB     4.00 MiB            1

   8.00 MiB ┤ ░░░░░░░░░░░░░░░░░░░░░░██████████████████████░░░░░░░░░░░░░░░░░░░░░
            │ ░░░░░░░░░░░░░░░░░░░░░░██████████████████████░░░░░░░░░░░░░░░░░░░░░
            │ ░░░░░░░░░░░░░░░░░░░░░░██████████████████████░░░░░░░░░░░░░░░░░░░░░
            │ ░░░░░░░░░░░██████████████████████████████████████████████████████
            │ ░░░░░░░░░░░██████████████████████████████████████████████████████
            │ ░░░░░░░░░░░██████████████████████████████████████████████████████
    0 bytes ┼────────────────────────────────────────────^─────────────────────
              0                                                        6 events
              █ allocated   ░ reserved above it   ^ out of memory

  allocations        2, 1 live at the end
  segments           0 at the end, 1 stream
  call stacks        none recorded
  out of memory      event 3: 16.00 MiB requested, GPU had 3.00 MiB free

Allocator settings: not recorded
`.trim(),
  );
});

describe('every capture', () => {
  test.each(captureNames())('%s fits 80 columns and never says NaN', (name) => {
    for (const line of textOf(loadCapture(name))) {
      expect(line.length).toBeLessThanOrEqual(80);
      expect(line).toBe(line.trimEnd());
      expect(line).not.toMatch(/NaN|undefined|null|object/);
    }
  });
});

test('never shows unrecorded values as zero or never', () => {
  const none = textOf(loadCapture('no_history.pickle.gz')).join('\n');
  expect(none).toMatch(/out of memory {6}not recorded/);
  expect(none).not.toContain('peak ');
  const late = textOf(loadCapture('train_recorded_late.pickle.gz')).join('\n');
  expect(late).toContain('recording: began late');
  expect(late).toContain('none since recording began');
  expect(late).toContain('Warning: Device 0: Recording began late');
});

test('color is used only if requested', () => {
  const ESCAPE = '\u001b[';
  expect(textOf(SMALL).join('')).not.toContain(ESCAPE);
  expect(textOf(SMALL, { columns: 80, color: true }).join('')).toContain(`${ESCAPE}31m`);
});

test('a hostile name cannot steer the terminal', () => {
  expect(printable('a\u001b]0;owned\u0007\nb\u009b31m')).toBe('a?]0;owned??b?31m');
  expect(printable('a\u202egpj\u2066.exe\u2028b\u061cc\ud800')).toBe('a?gpj?.exe?b?c?');
  expect(terminalText('\u001b[31mred\u001b[0m\n\u001b[2Jx', true)).toBe(
    '\u001b[31mred\u001b[0m\n?[2Jx',
  );
  expect(terminalText('\u001b[31mred\r', false)).toBe('?[31mred?');
  const value = { 'a\u202e': '\u2028\u0085\n' };
  expect(jsonText(value)).toBe('{\n  "a\\u202e": "\\u2028\\u0085\\n"\n}');
  expect(JSON.parse(jsonText(value))).toEqual(value);
});

test('omits settings at their defaults, but not unknown ones', () => {
  expect(
    changedSettings({
      PYTORCH_CUDA_ALLOC_CONF: 'max_split_size_mb:128',
      max_split_size: 134217728,
      garbage_collection_threshold: 0,
      expandable_segments: false,
      brand_new_option: false,
      roundup_power2_divisions: { '1': 0, '2': 0 },
    }),
  ).toEqual([
    'PYTORCH_CUDA_ALLOC_CONF = max_split_size_mb:128',
    'max_split_size = 134217728',
    'brand_new_option = False',
  ]);
  expect(changedSettings({ divisions: { '1': 8, '2': 8 } })).toEqual(['divisions = 8']);
  expect(changedSettings({ divisions: { '256': 1, '512': 2, '1': 0 } })).toEqual([
    'divisions = 256: 1, 512: 2',
  ]);
  expect(changedSettings(JSON.parse('{"__proto__": 3}'))).toEqual(['__proto__ = 3']);
});

test('text wraps at words', () => {
  expect(wrap('one two three fourteen-letters', 8, '  ')).toEqual([
    'one two',
    '  three',
    '  fourteen-letters',
  ]);
});

test('OOMs that were retried are counted apart from those that the program saw', () => {
  const text = textOf(loadCapture('near-miss/cudnn_tries_workspaces.pickle.gz')).join('\n');
  expect(text).toMatch(
    /out of memory {6}event [\d,]+: 4\.00 GiB requested.*\n {21}11 requests retried, so your program saw no error\n/,
  );
  expect(text.match(/\^/g)).toHaveLength(2);
});

import { expect, test } from 'vitest';
import { contextOf, traceOf } from '../../testing/contexts.ts';
import { siteLabels } from './site-labels.ts';

const frame = (filename: string, name: string, line: number) => ({ filename, name, line });
const OPERATOR = frame('??', 'at::native::mm(at::Tensor const&)', 0);
const LINEAR = frame('/x/site-packages/torch/nn/linear.py', 'forward', 134);
const ATTENTION = frame('/home/me/model.py', 'attention', 81);
const block = (line: number) => frame('/home/me/model.py', 'block', line);
const MAIN = frame('/home/me/train.py', 'main', 5);

function sitesOf(...stacks: readonly (readonly unknown[])[]) {
  const entries = stacks.map((frames, i) => {
    return { action: 'alloc', addr: 512 * (i + 1), size: 1, frames };
  });
  const context = contextOf(traceOf(...entries));
  const sites = Array.from(context.trace.events.stack, (stack) => context.stacks.siteOf(stack));
  return siteLabels(context, sites);
}

const labelsOf = (...stacks: readonly (readonly unknown[])[]) =>
  sitesOf(...stacks).map(({ label }) => label);

test('a site is its line, or the line and the function that it led to', () => {
  expect(
    labelsOf([OPERATOR, ATTENTION, MAIN], [LINEAR, block(9), MAIN], [frame('a.py', 'f', 0)]),
  ).toEqual(['model.py:81 (attention)', 'model.py:9 · forward in linear.py:134', 'a.py (f)']);
});

test("a label's full text is everything recorded", () => {
  const [{ about: own }] = sitesOf([ATTENTION, MAIN]);
  const [{ about: native }] = sitesOf([OPERATOR]);
  expect(own).toBe('attention in /home/me/model.py:81');
  expect(native).toBe(OPERATOR.name);
});

test('sites with one line are distinguished by the nearest caller that differs', () => {
  const through = (line: number) => [ATTENTION, MAIN, block(line)];
  expect(labelsOf(through(1), through(2), [MAIN])).toEqual([
    'model.py:81 (attention) · called from model.py:1',
    'model.py:81 (attention) · called from model.py:2',
    'train.py:5 (main)',
  ]);
});

test('what a line called in a library is no caller of it', () => {
  const by = (line: number) =>
    frame('/usr/lib/python3/site-packages/torchvision/resnet.py', 'forward', line);
  expect(labelsOf([LINEAR, by(155), ATTENTION, MAIN], [LINEAR, by(161), ATTENTION, MAIN])).toEqual([
    'model.py:81 · forward in linear.py:134 · by way of resnet.py:155',
    'model.py:81 · forward in linear.py:134 · by way of resnet.py:161',
  ]);
});

test('if callers differ in several places, places are named until all labels differ', () => {
  expect(
    labelsOf(
      [ATTENTION, block(1), MAIN],
      [ATTENTION, block(2), block(7)],
      [ATTENTION, block(2), MAIN],
    ),
  ).toEqual([
    'model.py:81 (attention) · called from model.py:1',
    'model.py:81 (attention) · called from model.py:2 ← model.py:7',
    'model.py:81 (attention) · called from model.py:2 ← train.py:5',
  ]);
});

test('sites that differ in no Python frame are numbered', () => {
  const inner = (name: string) => frame('/home/me/model.py', name, 81);
  const outer = (name: string) => [ATTENTION, frame('/home/me/x/train.py', name, 5)];
  expect(labelsOf(outer('a'), outer('b'), [inner('g')])).toEqual([
    'model.py:81 (attention) (1)',
    'model.py:81 (attention) (2)',
    'model.py:81 (g)',
  ]);
});

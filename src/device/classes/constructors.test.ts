/** What constructors of the program make: modules, and what is none. */
import { describe, expect, it } from 'vitest';
import { classesOf, idsOf, MiB, SIZES, train } from '../../testing/class-programs.ts';
import { at, inTorch, movedAt, Program } from '../../testing/program.ts';

const inFile = (file: string, name: string, line: number) => ({
  name,
  filename: `/workspace/${file}`,
  line,
});
const tableAt = (line: number) => [inFile('table.py', '__init__', line), at(12)];

describe('what a constructor makes', () => {
  /** The class of `MiB` made by `stack`, in a program that calls the module of net.py. */
  function classOf(stack: readonly ReturnType<typeof at>[], isCalled = true) {
    const program = new Program();
    const made = program.alloc(MiB, stack);
    for (const size of SIZES) program.alloc(size, movedAt(10));
    const call = [inTorch('nn/modules/module.py', '_call_impl', 1790), at(30)];
    if (isCalled) program.work(3, [inFile('net.py', 'forward', 40), ...call]);
    if (isCalled) train(program);
    return classesOf(program.context())[idsOf(program, [made])[0]];
  }

  it('is a module, if its file has one that is called', () => {
    expect(classOf([inFile('net.py', '__init__', 20), at(12)])).toBe('parameters');
  });

  it('is a module, if it calls a constructor of one', () => {
    expect(classOf([inTorch('nn/modules/linear.py', '__init__', 109), ...tableAt(16)])).toBe(
      'parameters',
    );
  });

  it('is a module, if a module makes it', () => {
    const made = [
      inFile('frequencies.py', '__init__', 5),
      inFile('net.py', '__init__', 20),
      at(12),
    ];
    expect(classOf(made)).toBe('parameters');
  });

  it('is data in a file without modules', () => {
    expect(classOf(tableAt(16))).toBe('inputs');
  });

  it('is a module, if none was called yet', () => {
    expect(classOf(tableAt(16), false)).toBe('parameters');
  });
});

it('two splits of a data set are no model and its copy', () => {
  const program = new Program();
  const splits = [12, 13].flatMap((line) =>
    [1, 8].map((size) =>
      program.alloc(size * MiB, [inFile('table.py', '__init__', 14 + size), at(line)]),
    ),
  );
  for (const size of SIZES) program.alloc(size, movedAt(10));
  train(program);
  const classes = classesOf(program.context());
  expect(idsOf(program, splits).map((id) => classes[id])).toEqual(Array(4).fill('inputs'));
});

/** The measured files, and how to make them. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { findPython } from '../scripts/find-programs.mjs';
import { ROOT } from '../scripts/run-command.mjs';

export const BENCH_FOLDER = join(ROOT, '.bench');

const PYTHON_STACKS = 'train_gpt_small';
/** Recorded with `stacks="all"`, PyTorch's default: 36 and 60 frames a stack. */
const DEFAULT_STACKS = 'pairs/resnet.all';
const LONG_DEFAULT_STACKS = 'pairs/lora.all';

/** As large as the real files that the budgets came from. `goals` are for the table beside CPython. */
const SUBJECTS = [
  { name: '1 MB', file: '1mb', source: PYTHON_STACKS, events: 0, isSmall: true },
  {
    name: '20 MB',
    file: '20mb',
    source: PYTHON_STACKS,
    events: 224_000,
    isSmall: true,
    hasViews: true,
  },
  {
    name: '131 MB, default stacks',
    file: '131mb-default',
    source: DEFAULT_STACKS,
    events: 690_000,
    goals: { painted: '–', firstPixels: '0.4 s', stats: '0.15', analyze: '–' },
  },
  {
    name: '104 MB, default stacks of 60 frames',
    file: '104mb-default',
    source: LONG_DEFAULT_STACKS,
    events: 490_000,
  },
  {
    name: '107 MB, default stacks by the C++ pickler',
    file: '107mb-default-cpp',
    source: DEFAULT_STACKS,
    events: 690_000,
    pickler: 'cpp',
  },
  {
    name: '513 MB',
    file: '513mb',
    source: PYTHON_STACKS,
    events: 5_770_000,
    hasViews: true,
    goals: { painted: '0.12', firstPixels: '0.5 s', stats: '0.125', analyze: '0.25' },
  },
  { name: '2 GB', file: '2gb', source: PYTHON_STACKS, events: 22_500_000 },
];

/**
 * @typedef {{name: string, path: string, bytes: number, hasViews: boolean, goals?: Record<string, string>}} Subject
 * `hasViews`: measure all views of the page, not only its opening; `goals`: measure it in turn with CPython
 * @param {boolean} onlySmall
 * @returns {readonly Subject[]} created if missing
 */
export function prepareSubjects(onlySmall) {
  return SUBJECTS.filter(({ isSmall }) => isSmall || !onlySmall).map((subject) => {
    const { name, file, source, events, pickler = 'python', hasViews = false, goals } = subject;
    const path = join(BENCH_FOLDER, `${file}.pickle`);
    if (!existsSync(path)) {
      console.log(`Making the ${name} file`);
      mkdirSync(BENCH_FOLDER, { recursive: true });
      const small = join(ROOT, 'fixtures', `${source}.pickle.gz`);
      const args = [join(ROOT, 'bench', 'make_snapshot.py'), small, path, String(events), pickler];
      execFileSync(findPython() ?? 'python3', args, { stdio: 'inherit' });
    }
    return { name, path, bytes: statSync(path).size, hasViews, goals };
  });
}

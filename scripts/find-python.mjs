import { spawnSync } from 'node:child_process';

const IS_NEW_ENOUGH = 'import sys; sys.exit(sys.version_info < (3, 9))';

/** @returns {string | undefined} the command of a Python 3.9 or later */
export function findPython() {
  const names = process.platform === 'win32' ? ['python', 'python3'] : ['python3', 'python'];
  return names.find((name) => spawnSync(name, ['-c', IS_NEW_ENOUGH]).status === 0);
}

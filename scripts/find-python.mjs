import { spawnSync } from 'node:child_process';

/**
 * @param {readonly string[]} [modules] that it must have
 * @returns {string | undefined} the command of a Python 3.9 or later
 */
export function findPython(modules = []) {
  const names = process.platform === 'win32' ? ['python', 'python3'] : ['python3', 'python'];
  const imports = ['sys', ...modules].join(', ');
  const code = `import ${imports}; sys.exit(sys.version_info < (3, 9))`;
  return names.find((name) => spawnSync(name, ['-c', code]).status === 0);
}

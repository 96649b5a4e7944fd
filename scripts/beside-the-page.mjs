import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

/**
 * Puts a file that another build made into this one, under its own name.
 * @param {string} path from the project's root
 * @returns {import('vite').Plugin}
 */
export function besideThePage(path) {
  return {
    name: 'vramscope:beside-the-page',
    apply: 'build',
    generateBundle() {
      if (!existsSync(path)) this.error(`${path} is not built: run \`npm run build\`.`);
      this.emitFile({ type: 'asset', fileName: basename(path), source: readFileSync(path) });
    },
  };
}

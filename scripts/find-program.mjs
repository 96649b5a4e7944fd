import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The folders of PATH. */
export const FOLDERS = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');

/**
 * @param {readonly string[]} names the best first @param {readonly string[]} [elsewhere] paths beside those on the PATH
 * @param {(path: string) => boolean} [isRight]
 * @returns {string | undefined} the program's path
 */
export const findProgram = (names, elsewhere = [], isRight = () => true) =>
  [...FOLDERS.flatMap((at) => names.map((name) => join(at, name))), ...elsewhere].find(
    (path) => existsSync(path) && isRight(path),
  );

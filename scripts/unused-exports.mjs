/** Exports that nobody uses: neither another file, tests among them, nor their own. */

/**
 * @param {readonly import('./read-exports.mjs').Export[]} exports
 * @param {readonly import('./read-imports.mjs').Import[]} imports
 */
export function unusedExports(exports, imports) {
  const used = new Set();
  const usedWhole = new Set();
  for (const { to, names } of imports) {
    if (names === undefined) usedWhole.add(to);
    else for (const name of names) used.add(`${to} ${name}`);
  }
  return exports.filter(({ file, name, isMentioned }) => {
    const path = importedPath(file);
    return !isMentioned && !usedWhole.has(path) && !used.has(`${path} ${name}`);
  });
}

/** The build of one file has workers.single.ts in the place of workers.ts. */
const importedPath = (file) => file.replace(/[.]single[.]ts$/, '.ts');

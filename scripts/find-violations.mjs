/** Imports against the rules of layers.mjs, where what no rule allows is denied; exports for nobody. */
import { LAYERS } from './layers.mjs';
import { readImports } from './read-imports.mjs';

/**
 * @typedef {object} Violation
 * @property {'layer' | 'types-only' | 'missing' | 'no-layer' | 'cycle' | 'unused'} rule
 * @property {string} from
 * @property {string} to
 */

/**
 * @param {string} root folder that holds src/
 * @returns {{fileCount: number, violations: readonly Violation[]}}
 * @throws when there is no source
 */
export function findViolations(root) {
  const { files, imports, exports } = readImports(root);
  const homeless = files
    .filter((file) => !isFree(file) && !layerOf(file))
    .map((file) => ({ rule: 'no-layer', from: file, to: 'scripts/layers.mjs' }));
  const broken = imports.flatMap((it) => {
    const rule = brokenRule(it);
    return rule ? [{ rule, from: it.from, to: it.to }] : [];
  });
  const unused = unusedExports(exports, imports).map(({ file, name }) => ({
    rule: 'unused',
    from: file,
    to: name,
  }));
  const violations = [...homeless, ...broken, ...cycles(imports), ...unused];
  return { fileCount: files.length, violations };
}

/** Tests, and what helps them, may import anything; nothing else may import them. */
const isFree = (file) => /[.]test[.]tsx?$/.test(file) || file.startsWith('src/testing/');

const layerOf = (file) => LAYERS.find(({ folder }) => isWithin(file, [folder]));

/** 'core' holds src/core/base/assert.ts, 'main.tsx' is src/main.tsx alone. */
const isWithin = (file, names) =>
  names.some((name) => file === `src/${name}` || file.startsWith(`src/${name}/`));

/** @param {import('./read-imports.mjs').Import} imported */
function brokenRule({ from, to, kind, isTypeOnly }) {
  if (kind === 'missing') return 'missing';
  const layer = layerOf(from);
  if (isFree(from) || !layer) return undefined;
  const { folder, imports = [], types = [], packages = [], node = false } = layer;
  if (kind === 'node') return node ? undefined : 'layer';
  if (kind === 'package') return packages.includes(to) ? undefined : 'layer';
  if (isFree(to)) return 'layer';
  if (isWithin(to, [folder, ...imports])) return undefined;
  if (!isWithin(to, types)) return 'layer';
  return isTypeOnly ? undefined : 'types-only';
}

/** One violation for each import that closes a circle, imports of types included. */
function cycles(imports) {
  const targets = new Map(imports.map(({ from }) => [from, []]));
  for (const { from, to, kind } of imports) if (kind === 'file') targets.get(from)?.push(to);
  const state = new Map();
  const found = [];
  const visit = (file) => {
    state.set(file, 'open');
    for (const to of targets.get(file) ?? []) {
      if (state.get(to) === 'open') found.push({ rule: 'cycle', from: file, to });
      else if (!state.has(to)) visit(to);
    }
    state.set(file, 'done');
  };
  for (const file of targets.keys()) if (!state.has(file)) visit(file);
  return found;
}

/**
 * Exports that nobody uses: neither another file, tests among them, nor their own.
 * @param {readonly import('./read-exports.mjs').Export[]} exports
 * @param {readonly import('./read-imports.mjs').Import[]} imports
 */
function unusedExports(exports, imports) {
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

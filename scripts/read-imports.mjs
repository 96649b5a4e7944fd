/** What the files of a source tree import, read from their syntax by swc. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, posix, sep } from 'node:path';
import { parseSync } from '@swc/core';

/**
 * @typedef {object} Import
 * @property {string} from path below the root: 'src/ui/app.tsx'
 * @property {string} to path below the root, or the name of a package, or 'node:fs'
 * @property {'file' | 'package' | 'node' | 'missing'} kind
 * @property {boolean} isTypeOnly by `import type` or `export type`
 */

/**
 * @param {string} root folder that holds src/
 * @returns {{files: readonly string[], imports: readonly Import[]}}
 * @throws when there is no source: a check that saw nothing has not passed
 */
export function readImports(root) {
  const entries = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const files = entries
    .filter((name) => /[.]tsx?$/.test(name))
    .map((name) => `src/${name.replaceAll(sep, '/')}`)
    .sort();
  if (files.length === 0) throw new Error(`No TypeScript in ${root}/src`);
  return { files, imports: files.flatMap((file) => importsOf(root, file)) };
}

function importsOf(root, from) {
  const source = readFileSync(join(root, from), 'utf8');
  const tree = parseSync(source, { syntax: 'typescript', tsx: from.endsWith('.tsx') });
  return specifiersIn(tree.body).map(({ specifier, isTypeOnly }) => {
    const { kind, to } = resolve(root, from, specifier);
    return { from, to, kind, isTypeOnly };
  });
}

/** Imports and re-exports, `import('…')` of values and of types, and `new URL('…')` of a worker. */
function specifiersIn(item) {
  if (Array.isArray(item)) return item.flatMap(specifiersIn);
  if (typeof item !== 'object' || item === null) return [];
  const own = specifierOf(item);
  return [...(own ? [own] : []), ...specifiersIn(Object.values(item))];
}

function specifierOf(item) {
  switch (item.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
      return item.source && { specifier: item.source.value, isTypeOnly: item.typeOnly === true };
    case 'TsImportType':
      return { specifier: item.argument.value, isTypeOnly: true };
    case 'CallExpression':
      return item.callee.type === 'Import' ? literal(item.arguments[0]) : undefined;
    case 'NewExpression':
      return item.callee.value === 'URL' ? workerFile(item.arguments?.[0]) : undefined;
    default:
      return undefined;
  }
}

/** An `import()` of what only the running program knows cannot be checked, so it is refused. */
function literal(argument) {
  const { type, value } = argument.expression;
  return { specifier: type === 'StringLiteral' ? value : 'import(?)', isTypeOnly: false };
}

function workerFile(argument) {
  const { type, value } = argument?.expression ?? {};
  const isSource = type === 'StringLiteral' && /^[.].*[.]tsx?$/.test(value);
  return isSource ? { specifier: value, isTypeOnly: false } : undefined;
}

/** Imports of files name them in full, with their extension: there is nothing to search for. */
function resolve(root, from, specifier) {
  if (isBuiltin(specifier)) return { kind: 'node', to: specifier };
  if (!specifier.startsWith('.')) {
    const parts = specifier.split('/');
    return { kind: 'package', to: parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/') };
  }
  const to = posix.join(posix.dirname(from), specifier.replace(/[?].*$/, ''));
  return { kind: existsSync(join(root, to)) ? 'file' : 'missing', to };
}

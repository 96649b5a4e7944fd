/** What the files of a source tree import and export, read from their syntax by swc. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, posix, sep } from 'node:path';
import { parseSync } from '@swc/core';
import { exportsOf } from './read-exports.mjs';

/**
 * @typedef {object} Import
 * @property {string} from path below the root: 'src/ui/app.tsx'
 * @property {string} to path below the root, or the name of a package, or 'node:fs'
 * @property {'file' | 'package' | 'node' | 'missing'} kind
 * @property {boolean} isTypeOnly by `import type` or `export type`
 * @property {readonly string[] | undefined} names what of it; undefined: all
 */

/**
 * @param {string} root folder that holds src/
 * @returns {{files: readonly string[], imports: readonly Import[],
 *   exports: readonly import('./read-exports.mjs').Export[]}}
 * @throws when there is no source: a check that saw nothing has not passed
 */
export function readImports(root) {
  const entries = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const files = entries
    .filter((name) => /[.]tsx?$/.test(name))
    .map((name) => `src/${name.replaceAll(sep, '/')}`)
    .sort();
  if (files.length === 0) throw new Error(`No TypeScript in ${root}/src`);
  const trees = files.map((file) => ({ file, tree: parse(root, file) }));
  return {
    files,
    imports: trees.flatMap(({ file, tree }) => importsOf(root, file, tree)),
    exports: trees.flatMap(({ file, tree }) => exportsOf(file, tree)),
  };
}

function parse(root, file) {
  const source = readFileSync(join(root, file), 'utf8');
  return parseSync(source, { syntax: 'typescript', tsx: file.endsWith('.tsx') });
}

function importsOf(root, from, tree) {
  return specifiersIn(tree.body).map(({ specifier, isTypeOnly, names }) => {
    const { kind, to } = resolve(root, from, specifier);
    return { from, to, kind, isTypeOnly, names };
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
      return (
        item.source && {
          specifier: item.source.value,
          isTypeOnly: item.typeOnly === true,
          names: namesOf(item.specifiers),
        }
      );
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

/** `export *` has no list of names, and `import * as it` one that says all of them. */
function namesOf(specifiers) {
  if (specifiers?.some(({ type }) => type.includes('Namespace'))) return undefined;
  return specifiers?.map(({ imported, orig, local }) => (imported ?? orig ?? local).value);
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

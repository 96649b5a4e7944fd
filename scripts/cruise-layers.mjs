/** Reads every import under src/ and says which break the rules of layers.mjs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from '@swc/core';
import { cruise } from 'dependency-cruiser';
import config from '../.dependency-cruiser.mjs';
import { LAYERS, pathOf, TEST_FILES } from './layers.mjs';

/**
 * @param {string} root folder that holds src/
 * @returns {Promise<{moduleCount: number, violations: readonly Violation[]}>} all violations found
 * @throws when no modules were found: a check that saw nothing has not passed
 */
export async function cruiseLayers(root) {
  const { enhancedResolveOptions, ...options } = config.options;
  const { forbidden, allowed, allowedSeverity } = config;
  const { output } = await cruise(
    ['src'],
    { ...options, baseDir: root, validate: true, ruleSet: { forbidden, allowed, allowedSeverity } },
    enhancedResolveOptions,
  );
  const modules = output.modules.filter((module) => module.source.startsWith('src/'));
  if (modules.length === 0) throw new Error(`dependency-cruiser saw no module in ${root}/src`);
  const violations = output.summary.violations.map(({ rule, from, to }) => ({
    rule: rule.name,
    from,
    to,
  }));
  return {
    moduleCount: modules.length,
    violations: [...violations, ...modules.flatMap((module) => valueImports(root, module))],
  };
}

/** Imports of values from where only types may come. */
function valueImports(root, module) {
  if (new RegExp(TEST_FILES).test(module.source)) return [];
  const layer = LAYERS.find(({ folder }) => new RegExp(pathOf(folder)).test(module.source));
  if (!layer?.types) return [];
  const within = (names, path) => names.some((name) => new RegExp(pathOf(name)).test(path));
  const typesOnly = module.dependencies.filter(
    ({ resolved }) =>
      within(layer.types, resolved) && !within([layer.folder, ...(layer.imports ?? [])], resolved),
  );
  if (typesOnly.length === 0) return [];
  const typed = specifiersOfTypeImports(join(root, module.source));
  return typesOnly
    .filter(({ module: specifier }) => !typed.has(specifier))
    .map(({ resolved }) => ({ rule: 'types-only', from: module.source, to: resolved }));
}

/** './a.ts' when all that a file takes from it is by `import type` or `export type`. */
function specifiersOfTypeImports(path) {
  const source = readFileSync(path, 'utf8');
  const { body } = parseSync(source, { syntax: 'typescript', tsx: path.endsWith('.tsx') });
  const declarations = body.filter((item) => item.source);
  const values = declarations.filter((item) => !item.typeOnly).map((item) => item.source.value);
  return new Set(
    declarations.map((item) => item.source.value).filter((name) => !values.includes(name)),
  );
}

/** @typedef {{rule: string, from: string, to: string}} Violation */

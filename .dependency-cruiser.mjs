import { LAYERS, pathOf, TEST_FILES } from './scripts/layers.mjs';

const inPackage = (name) => `^node_modules/${name.replace('/*', '')}/`;

function allowedFrom(layer) {
  const from = { path: pathOf(layer.folder), pathNot: TEST_FILES };
  // Whether an import of a `types` folder really is one of types only, cruise-layers.mjs checks:
  // the swc parser does not tell dependency-cruiser.
  const folders = [layer.folder, ...(layer.imports ?? []), ...(layer.types ?? [])];
  const rules = [{ from, to: { path: folders.map(pathOf), pathNot: TEST_FILES } }];
  if (layer.packages) rules.push({ from, to: { path: layer.packages.map(inPackage) } });
  if (layer.node) rules.push({ from, to: { dependencyTypes: ['core'] } });
  return rules;
}

export default {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  // Default deny: an import that no line here allows is an error.
  allowed: [
    ...LAYERS.flatMap(allowedFrom),
    { from: { path: [TEST_FILES, '^src/testing/'] }, to: {} },
  ],
  allowedSeverity: 'error',
  options: {
    // Without a parser that reads this TypeScript it finds no modules at all, and reports success.
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.css'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
      mainFields: ['module', 'main', 'types'],
    },
  },
};

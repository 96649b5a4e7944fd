/** What a file exports, read from its syntax tree by swc. */

/**
 * @typedef {object} Export
 * @property {string} file path below the root
 * @property {string} name
 * @property {boolean} isMentioned by the file itself, beside where it is declared
 */

/**
 * @param {string} file
 * @param {import('@swc/core').Module} tree
 * @returns {readonly Export[]}
 */
export function exportsOf(file, tree) {
  const mentions = new Map();
  countNames(tree.body, mentions);
  return tree.body.flatMap((item) =>
    exportedBy(item).map(({ name, own }) => ({
      file,
      name,
      isMentioned: (mentions.get(name) ?? 0) > own,
    })),
  );
}

/** `own`: how often the name stands in the export itself. */
function exportedBy(item) {
  switch (item.type) {
    case 'ExportDeclaration':
      return declaredNames(item.declaration).map((name) => ({ name, own: 1 }));
    case 'ExportNamedDeclaration':
      // To hand on is not to use: `export { a }` and `export { a } from …` are for others alone.
      return item.specifiers.map(({ exported, orig }) => ({
        name: (exported ?? orig).value,
        own: Infinity,
      }));
    default:
      return [];
  }
}

function declaredNames(declaration) {
  if (declaration.type !== 'VariableDeclaration') {
    return [(declaration.identifier ?? declaration.id).value];
  }
  return declaration.declarations.map(({ id }) => {
    if (id.type !== 'Identifier') throw new Error('Exported variables are named one by one');
    return id.value;
  });
}

function countNames(item, counts) {
  if (typeof item !== 'object' || item === null) return;
  if (item.type === 'Identifier') counts.set(item.value, (counts.get(item.value) ?? 0) + 1);
  for (const part of Object.values(item)) countNames(part, counts);
}

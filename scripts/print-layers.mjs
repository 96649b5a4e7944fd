/** `node scripts/print-layers.mjs`: writes the table of folders in docs/architecture.md anew. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LAYERS, UI_GROUND } from './layers.mjs';
import { replaceBetween, table } from './markdown.mjs';
import { isMain, ROOT } from './run-command.mjs';

export const ARCHITECTURE_PATH = join(ROOT, 'docs', 'architecture.md');

/** @param {string} text of docs/architecture.md, which has the markers */
export function withLayerTable(text) {
  return replaceBetween(text, 'layers', layerTable());
}

function layerTable() {
  const rows = LAYERS.map((layer) => [`src/${layer.folder}`, layer.does, mayImport(layer)]);
  const { imports, types, packages } = UI_GROUND;
  const ground = `_The ground of ui_: ${listed('', { imports, types, packages })}.`;
  return [table(['folder', 'does', 'may import'], rows), '', ground].join('\n');
}

function mayImport({ folder, ...layer }) {
  return folder.startsWith('ui/') && folder !== 'ui/theme'
    ? listed('_the ground of ui_', without(UI_GROUND, layer))
    : listed('', layer);
}

/** What a folder of ui may import beside the ground, which stands below the table. */
function without(ground, { imports, packages }) {
  return {
    imports: imports.filter((name) => !ground.imports.includes(name)),
    packages: packages.filter((name) => !ground.packages.includes(name)),
  };
}

function listed(first, { imports = [], types = [], packages = [], node = false }) {
  const parts = [
    [...(first === '' ? [] : [first]), ...imports].join(', '),
    types.length > 0 ? `types of ${types.join(', ')}` : '',
    packages.map((name) => `\`${name}\``).join(', '),
    node ? "Node's builtins" : '',
  ].filter((part) => part !== '');
  return parts.length > 0 ? parts.join('; ') : 'nothing';
}

if (isMain(import.meta.url)) {
  writeFileSync(ARCHITECTURE_PATH, withLayerTable(readFileSync(ARCHITECTURE_PATH, 'utf8')));
}

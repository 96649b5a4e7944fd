/** `node scripts/print-layers.mjs`: writes the table of folders in docs/architecture.md anew. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LAYERS } from './layers.mjs';
import { replaceBetween } from './replace-between.mjs';
import { isMain, ROOT } from './run-command.mjs';

export const ARCHITECTURE_PATH = join(ROOT, 'docs', 'architecture.md');

/** @param {string} text of docs/architecture.md, which has the markers */
export function withLayerTable(text) {
  return replaceBetween(text, 'layers', layerTable());
}

function layerTable() {
  const rows = LAYERS.map(
    (layer) => `| src/${layer.folder} | ${layer.does} | ${mayImport(layer)} |`,
  );
  return ['| folder | does | may import |', '|---|---|---|', ...rows].join('\n');
}

function mayImport({ imports = [], types = [], packages = [], node = false }) {
  const parts = [
    imports.join(', '),
    types.length > 0 ? `types of ${types.join(', ')}` : '',
    packages.map((name) => `\`${name}\``).join(', '),
    node ? "Node's builtins" : '',
  ].filter((part) => part !== '');
  return parts.length > 0 ? parts.join('; ') : 'nothing';
}

if (isMain(import.meta.url)) {
  writeFileSync(ARCHITECTURE_PATH, withLayerTable(readFileSync(ARCHITECTURE_PATH, 'utf8')));
}

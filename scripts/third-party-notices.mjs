/**
 * The build calls this to write dist/THIRD-PARTY-NOTICES.txt: the licenses of all packages whose code we ship. These are
 * package.json's `dependencies`, which knip keeps equal to what src/ imports, and their own dependencies.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './run-command.mjs';

/** Bundled by plugins at build time, from packages that src/ does not import. */
const BUILT_IN = ['workbox-precaching', 'workbox-routing', 'workbox-core'];
const LICENCE = /^(licen[cs]e|copying)(\.|$|-)/i;

const named = Object.keys(
  JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).dependencies,
);

/** @param {readonly string[]} names @returns {Map<string, object>} manifests by name */
function withDependencies(names) {
  const found = new Map();
  const pending = [...names];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const path = join(ROOT, 'node_modules', name, 'package.json');
    if (found.has(name) || !existsSync(path)) continue;
    const manifest = JSON.parse(readFileSync(path, 'utf8'));
    found.set(name, manifest);
    pending.push(...Object.keys(manifest.dependencies ?? {}));
  }
  return found;
}

function notice([name, { version, license }]) {
  const folder = join(ROOT, 'node_modules', name);
  const file = readdirSync(folder).find((entry) => LICENCE.test(entry));
  const text =
    file === undefined ? `Licence: ${license}` : readFileSync(join(folder, file), 'utf8');
  return `${'='.repeat(78)}\n${name} ${version} (${license})\n${'='.repeat(78)}\n\n${text.trim()}\n`;
}

const packages = [...withDependencies([...named, ...BUILT_IN])].sort(([a], [b]) =>
  a < b ? -1 : 1,
);
const text = `vramscope contains code of these packages.\n\n${packages.map(notice).join('\n')}`;
writeFileSync(join(ROOT, 'dist', 'THIRD-PARTY-NOTICES.txt'), text);
console.log(`${packages.length} licences in dist/THIRD-PARTY-NOTICES.txt`);

/**
 * What the build adds to the page: its Content-Security-Policy, files from another build, the icon, and the service
 * worker's list of files. src/ui/pages/shell/connection-policy.ts narrows connections further, per link.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** For dist/: scripts and styles are files beside the page. */
const SITE = [
  "default-src 'none'",
  "script-src 'self'",
  // Workers start from a blob, so that they inherit the page's policy: src/worker/workers.ts.
  "worker-src 'self' blob:",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "font-src 'self'",
  "manifest-src 'self'",
  "connect-src 'self' http: https: blob:",
  "base-uri 'none'",
  "form-action 'none'",
];

/** @returns {import('vite').Plugin} */
export function sitePolicy() {
  return {
    name: 'vramscope:site-policy',
    apply: 'build',
    transformIndexHtml: () => [policyTag(SITE)],
  };
}

/**
 * For the page in one file: allows exactly its inline scripts and styles, by hash, and no connections.
 * @param {string} html the finished page, without a policy
 */
export function withInlinePolicy(html) {
  const scripts = [...html.matchAll(/<script type="module"[^>]*>([\s\S]*?)<\/script>/g)];
  const styles = [...html.matchAll(/<style[^>]*>([\s\S]*?)<\/style>/g)];
  const policy = [
    "default-src 'none'",
    `script-src ${scripts.map(([, text]) => hashOf(text)).join(' ')}`,
    'worker-src blob:',
    `style-src ${styles.map(([, text]) => hashOf(text)).join(' ')}`,
    'img-src blob: data:',
    'connect-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ];
  const tag = `<meta http-equiv="Content-Security-Policy" content="${policy.join('; ')}">`;
  return html.replace(/<meta charset="[^"]*"\s*\/?>/, (charset) => `${charset}\n    ${tag}`);
}

function policyTag(policy) {
  return {
    tag: 'meta',
    attrs: { 'http-equiv': 'Content-Security-Policy', content: policy.join('; ') },
    injectTo: 'head-prepend',
  };
}

function hashOf(text) {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/**
 * Adds a file from another build to this one, under its own name.
 * @param {string} path from the project's root
 * @returns {import('vite').Plugin}
 */
export function besideThePage(path) {
  return {
    name: 'vramscope:beside-the-page',
    apply: 'build',
    generateBundle() {
      if (!existsSync(path)) this.error(`${path} is not built: run \`npm run build\`.`);
      this.emitFile({ type: 'asset', fileName: basename(path), source: readFileSync(path) });
    },
  };
}

/**
 * Inlines the icon into the page, for the build without separate files.
 * @param {string} path of the SVG
 * @returns {import('vite').Plugin}
 */
export function inlineIcon(path) {
  const href = `data:image/svg+xml,${encodeURIComponent(readFileSync(path, 'utf8').trim())}`;
  return {
    name: 'vramscope:inline-icon',
    transformIndexHtml: {
      order: 'pre',
      handler: (html) => html.replace('./favicon.svg', href),
    },
  };
}

/**
 * Whether a URL is one of our own files. The text of this function is copied into the service worker, so it must not
 * use anything else from this file.
 *
 * Snapshots are never cached: from other sites, from other paths of this site, or with a query.
 * @param {{ url: URL }} request
 */
export function isOwnFile({ url }) {
  const { scope } = self.registration;
  if (!url.href.startsWith(scope)) return false;
  return /^(samples\/[\w-]+\.pickle\.gz|vramscope\.html)$/.test(url.href.slice(scope.length));
}

/** Caches of other versions share this prefix; src/ui/pages/shell/updates.ts removes them. */
export const KEPT_FILES = 'kept-files-';

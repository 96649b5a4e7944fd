/**
 * What the build adds to the page: its Content-Security-Policy, files that another build made, the icon, and which files
 * the service worker keeps. src/ui/pages/shell/connection-policy.ts narrows connections further, per link.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** For dist/: scripts and styles are files beside the page. */
const SITE = [
  "default-src 'none'",
  "script-src 'self'",
  // From a blob, so that the page's policy holds in workers too: src/worker/workers.ts.
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
 * For the page in one file, whose scripts and styles are inline: those very texts are allowed, by
 * their hashes, and no connection at all.
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
 * Puts a file that another build made into this one, under its own name.
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
 * Puts the icon into the page itself, where there is no file beside it.
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
 * Whether an address is one of ours. Runs in the service worker, into which its text is copied: it
 * may use nothing of this file.
 *
 * A snapshot is never kept: neither of another site, nor of this one under another path, nor one that
 * is asked for with a query.
 * @param {{ url: URL }} request
 */
export function isOwnFile({ url }) {
  const { scope } = self.registration;
  if (!url.href.startsWith(scope)) return false;
  return /^(samples\/[\w-]+\.pickle\.gz|vramscope\.html)$/.test(url.href.slice(scope.length));
}

/** The caches of other versions begin so, too; src/ui/pages/shell/updates.ts removes them. */
export const KEPT_FILES = 'kept-files-';

/**
 * Vite plugins that write a Content-Security-Policy into the built index.html. Nothing is allowed
 * but what is named; src/ui/pages/shell/connection-policy.ts narrows connections further, per link.
 */
import { createHash } from 'node:crypto';

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

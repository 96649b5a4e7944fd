import { readFileSync } from 'node:fs';

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

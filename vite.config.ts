import { readFileSync } from 'node:fs';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { VitePWA } from 'vite-plugin-pwa';
import { besideThePage, isOwnFile, KEPT_FILES, sitePolicy } from './scripts/vite-plugins.mjs';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

// base './' lets dist/ work under any path of any static host.
export default defineConfig({
  base: './',
  define: { 'import.meta.env.VITE_VERSION': JSON.stringify(version) },
  plugins: [
    react(),
    sitePolicy(),
    besideThePage('dist-single/vramscope.html'),
    VitePWA({
      // The page asks before it reloads, so that an open snapshot is not lost (ui/pages/shell/app-header.tsx).
      registerType: 'prompt',
      injectRegister: null,
      includeAssets: ['favicon.svg'],
      manifest: {
        name: 'vramscope',
        short_name: 'vramscope',
        description:
          'Opens PyTorch GPU memory snapshots: where every byte went, and why it ran out.',
        display: 'standalone',
        start_url: './',
        scope: './',
        theme_color: '#0f1419',
        background_color: '#0f1419',
        icons: [{ src: 'favicon.svg', sizes: 'any', type: 'image/svg+xml', purpose: 'any' }],
      },
      workbox: {
        globPatterns: ['**/*.{js,css,svg}', 'index.html'],
        navigateFallback: 'index.html',
        navigateFallbackDenylist: [/\/vramscope\.html$/],
        // Each megabyte stored from the start costs the first visit some 15 MB of memory. Files as large as all the
        // rest together are stored only once they were requested.
        runtimeCaching: [
          {
            urlPattern: isOwnFile,
            handler: 'NetworkFirst',
            options: { cacheName: `${KEPT_FILES}${version}` },
          },
        ],
        ignoreURLParametersMatching: [/^snapshot$/],
      },
    }),
  ],
  worker: {
    format: 'es',
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'start', tags: ['$initial'], priority: 1 },
            { name: 'answers', test: /[\\/]worker[\\/]answers\.ts$/ },
          ],
        },
      },
    },
  },
  build: {
    target: 'es2022',
    sourcemap: false,
    modulePreload: {
      // Browsers without modulepreload still load every module, a little later.
      polyfill: false,
      // Every chunk needs the page's own, which is already loaded: Firefox treats requesting it again as an error.
      resolveDependencies: (_, needed) =>
        needed.filter((name) => !/^assets\/index-.*\.js$/.test(name)),
    },
    rolldownOptions: {
      output: {
        // One chunk for what the empty page needs, and one for what the first file needs: they compress better than
        // several small ones, and no chunk has to request another.
        codeSplitting: {
          groups: [
            { name: 'page', tags: ['$initial'], priority: 1 },
            { name: 'workbench', test: /[\\/]ui[\\/]pages[\\/]shell[\\/]workbench\.tsx$/ },
          ],
        },
      },
    },
  },
});

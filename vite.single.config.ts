import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';
import { inlineIcon } from './scripts/vite-plugins.mjs';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// The whole page in one file that opens with a double click: scripts/build.mjs finishes it.
export default defineConfig({
  base: './',
  publicDir: false,
  define: {
    'import.meta.env.VITE_VERSION': JSON.stringify(version),
    'import.meta.env.VITE_SINGLE': 'true',
  },
  resolve: {
    // What has another form in the single file.
    alias: [
      { find: /^\.{1,2}\/workers\.ts$/, replacement: here('src/worker/workers.single.ts') },
      {
        find: /^\.\/partial\/replay-worker\.ts$/,
        replacement: here('src/worker/partial/replay-worker.single.ts'),
      },
    ],
  },
  plugins: [react(), inlineIcon(here('public/favicon.svg')), viteSingleFile()],
  // On file:// a browser starts classic workers from a blob, but not module workers.
  worker: { format: 'iife', rolldownOptions: { output: { codeSplitting: false } } },
  build: { outDir: 'dist-single', target: 'es2022', sourcemap: false },
});

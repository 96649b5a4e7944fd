import { readFileSync } from 'node:fs';
import { defineConfig } from 'vite';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

// All it needs but Node itself, so that bin/ runs without node_modules. What one command alone needs is
// a file of its own.
export default defineConfig({
  define: { __VRAMSCOPE_VERSION__: JSON.stringify(version) },
  publicDir: false,
  ssr: { noExternal: true },
  build: {
    ssr: 'src/cli/main.ts',
    outDir: 'dist-cli',
    target: 'node20',
    rolldownOptions: { output: { entryFileNames: 'vramscope.mjs', chunkFileNames: '[name].mjs' } },
  },
});

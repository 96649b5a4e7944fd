import { readFileSync } from 'node:fs';
import { defineConfig } from 'vite';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

// Contains everything it needs except Node, so that bin/ runs without node_modules. Code that only few commands need is
// in separate files; what most need is one file, because each takes a millisecond to find and open.
export default defineConfig({
  define: { __VRAMSCOPE_VERSION__: JSON.stringify(version) },
  publicDir: false,
  ssr: { noExternal: true },
  build: {
    ssr: 'src/cli/main.ts',
    outDir: 'dist-cli',
    target: 'node20',
    rolldownOptions: {
      output: {
        entryFileNames: 'vramscope.mjs',
        chunkFileNames: '[name].mjs',
        codeSplitting: { groups: [{ name: 'common', minShareCount: 6 }] },
      },
    },
  },
});

import { readFileSync } from 'node:fs';
import { defineConfig } from 'vite';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

// Contains everything it needs except Node, so that bin/ runs without node_modules. Code that only one command needs
// is a separate file.
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

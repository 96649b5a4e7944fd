import { readFileSync } from 'node:fs';
import { defineConfig } from 'vite';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

// One file with all it needs but Node itself, so that bin/ runs without node_modules.
export default defineConfig({
  define: { __VRAMSCOPE_VERSION__: JSON.stringify(version) },
  publicDir: false,
  ssr: { noExternal: true },
  build: {
    ssr: 'src/cli/main.ts',
    outDir: 'dist-cli',
    target: 'node20',
    rolldownOptions: { output: { entryFileNames: 'vramscope.mjs', codeSplitting: false } },
  },
});

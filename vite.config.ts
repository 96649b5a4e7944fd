import { readFileSync } from 'node:fs';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

// base './' lets dist/ work under any path of any static host.
export default defineConfig({
  base: './',
  define: { 'import.meta.env.VITE_VERSION': JSON.stringify(version) },
  plugins: [react()],
  worker: { format: 'es' },
  build: { target: 'es2022', sourcemap: false },
});

import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// base './' lets dist/ work under any path of any static host.
export default defineConfig({
  base: './',
  plugins: [react()],
  worker: { format: 'es' },
  build: { target: 'es2022', sourcemap: false },
});

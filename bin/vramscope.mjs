#!/usr/bin/env node
import { existsSync } from 'node:fs';

const built = new URL('../dist-cli/vramscope.mjs', import.meta.url);
if (existsSync(built)) {
  await import(built.href);
} else {
  console.error('vramscope: the command line is not built yet. Run `npm run build` first.');
  process.exitCode = 2;
}

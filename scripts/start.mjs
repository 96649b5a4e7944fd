/** `npm start`: installs what is missing, builds, and serves the page. Works on a fresh clone. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ensureReady } from './ensure-ready.mjs';
import { ROOT, run } from './run-command.mjs';

const SOURCES = ['src', 'public', 'index.html', 'vite.config.ts', 'package-lock.json'];
const DEFAULT_PORT = 4173;

try {
  await ensureReady();
  if (newestMs(SOURCES) > newestMs(['dist/index.html'])) {
    const code = await run(process.execPath, [join(ROOT, 'scripts', 'build.mjs')]);
    if (code !== 0) throw new Error(`The build failed with exit code ${code}.`);
  }
  await serve();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/** Latest modification of any of these files and folders; 0 if there are none. */
function newestMs(paths) {
  const times = paths.flatMap((path) => {
    const full = join(ROOT, path);
    const stats = statSync(full, { throwIfNoEntry: false });
    if (!stats) return [];
    if (!stats.isDirectory()) return [stats.mtimeMs];
    const inside = readdirSync(full, { recursive: true, withFileTypes: true });
    return inside.map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs);
  });
  return Math.max(0, ...times);
}

/** Takes the next free port if the requested one is in use. Ctrl+C ends it. */
async function serve() {
  const { preview } = await import('vite');
  const port = process.env.PORT ? Number(process.env.PORT) : DEFAULT_PORT;
  if (!(port >= 1 && port <= 65535)) throw new Error(`PORT: ${process.env.PORT} is no port.`);
  const server = await preview({ root: ROOT, preview: { port, host: '127.0.0.1' } });
  console.log(`\nvramscope is at ${server.resolvedUrls?.local[0]}   (Ctrl+C ends it)\n`);
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => server.close().then(() => process.exit(0)));
  }
}

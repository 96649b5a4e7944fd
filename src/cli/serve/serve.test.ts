import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserCommand, hasScreen } from './doors.ts';
import { type SnapshotServer, serveSnapshots } from './snapshot-server.ts';
import { sourceFiles } from './source-files.ts';

describe('the browser', () => {
  it('is not searched for if nobody would see it', () => {
    expect(hasScreen({ platform: 'linux', env: {} })).toBe(false);
    expect(hasScreen({ platform: 'linux', env: { DISPLAY: ':0' } })).toBe(true);
    expect(hasScreen({ platform: 'darwin', env: { SSH_CONNECTION: '1 2 3 4' } })).toBe(false);
    expect(hasScreen({ platform: 'win32', env: {} })).toBe(true);
  });

  it('is given the address as one argument', () => {
    const address = 'http://127.0.0.1:7878/abc/?snapshot=files/0/a%20b.pickle&x=$(true)';
    for (const platform of ['linux', 'darwin', 'win32'] as const) {
      expect(browserCommand(platform, address)).toContain(address);
    }
  });
});

/** A row of the table that both servers are tested with. */
interface ServerCase {
  readonly name: string;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookie?: boolean;
  readonly sent?: string;
  readonly status: number;
  readonly body?: string;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

describe('the server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vramscope-serve-'));
  const page = join(folder, 'page');
  const named = join(folder, 'my run.pickle');
  const other = join(folder, 'secret.pickle');
  let server: SnapshotServer;
  let base: URL;

  /** Requests as the browser that was let in. */
  let cookie = '';

  function ask(path: string, more: Record<string, string> = {}, method = 'GET', body = '') {
    return new Promise<Answer>((resolve, reject) => {
      const { port } = server;
      const headers = { cookie, ...more };
      const sent = request({ host: '127.0.0.1', port, path, headers, method }, (response) => {
        let body = '';
        response.setEncoding('latin1');
        response.on('data', (text) => {
          body += text;
        });
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        );
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  beforeAll(async () => {
    const { mkdirSync } = await import('node:fs');
    mkdirSync(join(page, 'assets'), { recursive: true });
    writeFileSync(join(page, 'index.html'), '<!doctype html>the page');
    copyFileSync('public/opened-before.html', join(page, 'opened-before.html'));
    writeFileSync(join(page, 'sw.js'), 'worker');
    writeFileSync(join(page, 'assets', 'a.js'), 'script');
    writeFileSync(named, '0123456789');
    writeFileSync(other, 'secret');
    server = await serveSnapshots({ page, files: [named], port: 0 });
    base = new URL(server.addresses[0] ?? '');
    cookie = await enter(base);
  });

  /** Opens the printed address: later requests carry its cookie. */
  async function enter(address: URL): Promise<string> {
    const first = await fetch(address);
    return first.headers.get('set-cookie')?.replace(/;.*/, '') ?? '';
  }
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  const snapshotPath = () => `${base.pathname}${base.searchParams.get('snapshot')}`;

  it('serves the page and the named file under a token', async () => {
    expect(base.pathname).toMatch(/^\/[0-9a-f]{32}\/$/);
    expect((await ask(base.pathname)).body).toBe('<!doctype html>the page');
    const script = await ask(`${base.pathname}assets/a.js`);
    expect(script.headers['content-type']).toContain('text/javascript');
    expect((await ask(snapshotPath().replace(' ', '%20'))).body).toBe('0123456789');
  });

  it('names the content of a file: the page looks at it again and again', async () => {
    const tag = async () =>
      (await ask(snapshotPath().replace(' ', '%20'), {}, 'HEAD')).headers.etag;
    const before = await tag();
    expect(before).toMatch(/^"[^"]+"$/);
    expect(await tag()).toBe(before);
    utimesSync(named, 1e9, 1e9);
    expect(await tag()).not.toBe(before);
  });

  const { cases }: { readonly cases: readonly ServerCase[] } = JSON.parse(
    readFileSync('fixtures/server-cases.json', 'utf8'),
  );

  it.each(cases)('answers as the server of the Python package: $name', async (one) => {
    const filled = (text: string) =>
      text.replace('{base}', base.pathname).replace('{port}', String(server.port));
    const given = Object.entries(one.headers ?? {}).map(([key, value]) => [key, filled(value)]);
    const headers = { ...(one.cookie === false && { cookie: '' }), ...Object.fromEntries(given) };
    const { status, body } = await ask(filled(one.path), headers, one.method, one.sent);
    expect(status).toBe(one.status);
    if (one.body !== undefined) expect(body).toBe(one.body);
    expect(body).not.toContain('secret');
  });

  it('says when the file is gone, and handles growth and shrinking', async () => {
    const path = snapshotPath().replace(' ', '%20');
    appendFileSync(named, 'ab');
    expect((await ask(path)).body).toBe('0123456789ab');
    truncateSync(named, 3);
    expect((await ask(path)).body).toBe('012');
    rmSync(named);
    expect(await ask(path)).toMatchObject({
      status: 404,
      body: expect.stringContaining('The file is gone'),
    });
  });

  it('lists the Python files of the program, and serves only these', async () => {
    const { mkdirSync } = await import('node:fs');
    const program = join(folder, 'run');
    for (const inner of ['models', '.git', 'venv/lib', '__pycache__']) {
      mkdirSync(join(program, inner), { recursive: true });
      writeFileSync(join(program, inner, 'gpt.py'), `# in ${inner}`);
    }
    writeFileSync(join(program, 'venv', 'pyvenv.cfg'), '');
    writeFileSync(join(program, 'train.py'), 'train()');
    writeFileSync(join(program, 'key.pem'), 'secret');
    symlinkSync(other, join(program, 'link.py'));
    const source = await sourceFiles(program);
    const shown = await serveSnapshots({ page, files: [other], port: 0, source });
    try {
      const address = new URL(shown.addresses[0] ?? '');
      expect(address.searchParams.get('source')).toBe('source.json');
      const headers = { cookie: await enter(address) };
      const read = (path: string) => fetch(new URL(path, address), { headers });
      const { above, files } = await (await read('source.json')).json();
      expect(above).toBe(realpathSync(folder));
      const paths = files.map(({ path }: { path: string }) => path);
      expect(paths.sort()).toEqual(['run/models/gpt.py', 'run/train.py']);
      const train = files.find(({ path }: { path: string }) => path === 'run/train.py');
      expect(await (await read(train.url)).text()).toBe('train()');
      expect((await read('files/3/link.py')).status).toBe(404);
    } finally {
      await shown.close();
    }
    await expect(sourceFiles(other)).rejects.toThrow('it is not a folder');
  });

  it('follows no link and waits for no pipe that was put in a place it serves', async () => {
    const asset = join(page, 'assets', 'a.js');
    const paths = [
      [named, snapshotPath().replace(' ', '%20')],
      [asset, `${base.pathname}assets/a.js`],
    ] as const;
    for (const [file, path] of paths) {
      rmSync(file, { force: true });
      symlinkSync(other, file);
      expect(await ask(path)).toMatchObject({
        status: 404,
        body: expect.not.stringContaining('secret'),
      });
      rmSync(file);
      spawnSync('mkfifo', [file]);
      expect((await ask(path)).status).toBe(404);
      rmSync(file);
      // Deleted altogether: the server continues.
      expect((await ask(path)).status).toBe(404);
    }
    expect((await ask(base.pathname)).status).toBe(200);
  });

  it('cannot be framed, guessed or shown as something else', async () => {
    const { headers } = await ask(base.pathname);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'content-security-policy': "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    });
    const refused = await ask('/');
    expect(refused.headers['content-security-policy']).toContain('sandbox');
  });

  it('tells a second browser what to do, on a page that runs nothing', async () => {
    const { status, headers, body } = await ask(base.pathname, { cookie: '' });
    expect(status).toBe(403);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; sandbox; .*style-src/);
    expect(body).toMatch(/works in one browser.*prints a new address/s);
    const file = await ask(snapshotPath().replace(' ', '%20'), { cookie: '' });
    expect([file.status, file.headers['content-type']]).toEqual([403, 'text/plain; charset=utf-8']);
  });

  it('lets the browser in by a file that only its user can read, once', async () => {
    const file = await server.entranceFile(server.addresses[0] ?? '');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const [, url = ''] = /url=(http[^"]+)"/.exec(readFileSync(file, 'utf8')) ?? [];
    const { pathname } = new URL(url);
    expect(pathname).not.toContain(base.pathname.slice(1, -1));
    expect((await ask(pathname, { cookie: '' }, 'HEAD')).status).toBe(404);
    const first = await ask(pathname, { cookie: '' });
    expect([first.status, first.headers.location]).toEqual([302, server.addresses[0]]);
    expect(String(first.headers['set-cookie'])).toMatch(/HttpOnly; SameSite=Lax/);
    expect((await ask(pathname, { cookie: '' })).status).toBe(404);
    await expect.poll(() => existsSync(file)).toBe(false);
  });

  it('serves the ranks of a folder from a list, and nothing else', async () => {
    const { mkdirSync } = await import('node:fs');
    const job = join(folder, 'job');
    mkdirSync(job);
    const files = [0, 1].map((rank) => join(job, `rank${rank}.pickle`));
    for (const file of files) writeFileSync(file, 'bytes');
    const ranks = await serveSnapshots({ page, files, areRanks: true, port: 0 });
    const [address = ''] = ranks.addresses;
    const { pathname, search, port } = new URL(address);
    expect([ranks.addresses.length, search]).toEqual([1, '?ranks=ranks.json']);
    const headers = { cookie: await enter(new URL(address)) };
    const get = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
      return { status: response.status, text: await response.text() };
    };
    const list = await get(`${pathname}ranks.json`);
    expect(JSON.parse(list.text)).toEqual({
      files: files.map((path, i) => ({ path, url: `files/${i}/rank${i}.pickle` })),
    });
    expect((await get(`${pathname}files/1/rank1.pickle`)).text).toBe('bytes');
    // A file that came later, and the list without the token.
    writeFileSync(join(job, 'rank2.pickle'), 'bytes');
    expect((await get(`${pathname}files/2/rank2.pickle`)).status).toBe(404);
    expect((await get('/ranks.json')).status).toBe(404);
    expect((await ask(`${base.pathname}ranks.json`)).status).toBe(404);
    await ranks.close();
  });

  it('takes the next port when one is in use', async () => {
    const second = await serveSnapshots({ page, files: [], port: server.port });
    expect(second.port).toBeGreaterThan(server.port);
    await second.close();
  });
});

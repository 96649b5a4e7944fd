/**
 * Who may come in: one browser, which gets a cookie when it opens the printed address, or the file that was made for
 * it. Both work once: an address that somebody else reads later, from a terminal, a history or a list of processes,
 * leads nowhere.
 *
 * The file is the browser's way in, as its command line can be read by every user of the machine: only the name of a
 * file stands there, which only this user may read.
 */

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/** As long as a browser may take to start. */
const ENTRANCE_MS = 30_000;

const COOKIE = 'vramscope';

export class Doors {
  /** Its path is the token, so that no other server on this machine is sent it. */
  readonly #path: string;
  readonly #cookie = secret();
  readonly #entrances = new Map<string, { readonly address: string; readonly untilMs: number }>();
  readonly #files = new Set<string>();
  #isOpened = false;

  /** @param token first part of all paths that are served */
  constructor(token: string) {
    this.#path = `/${token}/`;
  }

  /** What lets a browser in from now on: the value of a `Set-Cookie`. Lax: a Strict one would not come along from a file. */
  get cookie(): string {
    return `${COOKIE}=${this.#cookie}; Path=${this.#path}; HttpOnly; SameSite=Lax`;
  }

  /** Whether a request's `Cookie` is that of the browser that was let in. */
  isInside(cookies = ''): boolean {
    return cookies.split(/; */).includes(`${COOKIE}=${this.#cookie}`);
  }

  /** True once: for the first that opens the printed address. */
  openOnce(): boolean {
    const isFirst = !this.#isOpened;
    this.#isOpened = true;
    return isFirst;
  }

  /** A file that leads to `address` through `root`, once, within half a minute; gone after that. */
  async entranceFile(root: string, address: string): Promise<string> {
    const path = `/open/${secret()}`;
    this.#entrances.set(path, { address, untilMs: Date.now() + ENTRANCE_MS });
    const file = join(folderOfEntrances(), `vramscope-${secret()}.html`);
    await writeFile(file, redirectPage(`${root}${path}`), { mode: 0o600, flag: 'wx' });
    this.#files.add(file);
    setTimeout(() => void this.close(), ENTRANCE_MS).unref();
    return file;
  }

  /** Where the path of an entrance leads; from then on, nowhere. */
  take(path: string): string | undefined {
    const entrance = this.#entrances.get(path);
    this.#entrances.delete(path);
    if (entrance === undefined || Date.now() > entrance.untilMs) return undefined;
    void this.close();
    return entrance.address;
  }

  /** Takes the files away. */
  async close(): Promise<void> {
    const files = [...this.#files];
    this.#files.clear();
    await Promise.all(files.map((file) => rm(file, { force: true })));
  }
}

/** A browser from a snap sees neither the system's temporary folder nor hidden ones. */
const folderOfEntrances = (): string => (existsSync('/snap/bin') ? homedir() : tmpdir());

const redirectPage = (url: string): string => `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${url}">
<title>vramscope</title>
<a href="${url}">Open vramscope</a>
`;

const secret = (): string => randomBytes(16).toString('hex');

export interface Desktop {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** False where the user is on another machine: no display, or a session over SSH. */
export function hasScreen({ platform, env }: Desktop): boolean {
  if ((env.SSH_CONNECTION ?? '') !== '') return false;
  if (platform === 'darwin' || platform === 'win32') return true;
  return (env.DISPLAY ?? env.WAYLAND_DISPLAY ?? '') !== '';
}

/** The command and its arguments; the address has no character that a shell would read. */
export function browserCommand(platform: NodeJS.Platform, address: string): readonly string[] {
  switch (platform) {
    case 'darwin':
      return ['open', address];
    case 'win32':
      return ['rundll32', 'url.dll,FileProtocolHandler', address];
    default:
      return ['xdg-open', address];
  }
}

/** Resolves to false where it could not be started. */
export function openBrowser(platform: NodeJS.Platform, address: string): Promise<boolean> {
  const [command = '', ...args] = browserCommand(platform, address);
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}

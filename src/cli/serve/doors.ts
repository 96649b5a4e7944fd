/**
 * Lets in one browser. It gets a cookie when it opens the printed address or the entrance file. Each works once, so
 * an address that somebody later finds in a terminal, a history or a process list leads nowhere.
 *
 * The entrance file exists because every user of the machine can read the browser's command line. That shows only the
 * file's name, and only this user can read the file.
 */

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Time for a browser to start. */
const ENTRANCE_MS = 30_000;

const COOKIE = 'vramscope';

/** A file for the browser, and the path that it leads to. */
interface Entrance {
  readonly file: string;
  readonly path: string;
  readonly address: string;
  readonly untilMs: number;
}

export class Doors {
  /** Limits the cookie to the token's path, so that no other server on this machine receives it. */
  readonly #path: string;
  readonly #cookie = secret();
  #entrance: Entrance | undefined;
  #isOpened = false;

  /** @param token the first part of all served paths */
  constructor(token: string) {
    this.#path = `/${token}/`;
  }

  /**
   * Value of `Set-Cookie` that lets a browser in. Lax, since browsers don't send a Strict cookie on a visit from a
   * file.
   */
  get cookie(): string {
    return `${COOKIE}=${this.#cookie}; Path=${this.#path}; HttpOnly; SameSite=Lax`;
  }

  /** Whether a request's `Cookie` belongs to the browser that was let in. */
  isInside(cookies = ''): boolean {
    return cookies.split(/; */).includes(`${COOKIE}=${this.#cookie}`);
  }

  /** True once: for the first request to the printed address. */
  openOnce(): boolean {
    const isFirst = !this.#isOpened;
    this.#isOpened = true;
    return isFirst;
  }

  /** Writes a file that leads to `address` through `root` once, within half a minute. It is removed when it is used. */
  async entranceFile(root: string, address: string): Promise<string> {
    const path = `/open/${secret()}`;
    const file = join(folderOfEntrances(), `vramscope-${secret()}.html`);
    await writeFile(file, redirectPage(`${root}${path}`), { mode: 0o600, flag: 'wx' });
    this.#entrance = { file, path, address, untilMs: Date.now() + ENTRANCE_MS };
    return file;
  }

  /** Where an entrance's path leads. Works once. */
  take(path: string): string | undefined {
    const entrance = this.#entrance;
    if (entrance?.path !== path) return undefined;
    void this.close();
    return Date.now() > entrance.untilMs ? undefined : entrance.address;
  }

  async close(): Promise<void> {
    const entrance = this.#entrance;
    this.#entrance = undefined;
    if (entrance !== undefined) await rm(entrance.file, { force: true });
  }
}

/** A browser from a snap sees neither the system's temporary folder nor hidden folders. */
const folderOfEntrances = (): string => (existsSync('/snap/bin') ? homedir() : tmpdir());

const redirectPage = (url: string): string => `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${url}">
<title>vramscope</title>
<a href="${url}">Open vramscope</a>
`;

export const secret = (): string => randomBytes(16).toString('hex');

export interface Desktop {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** False if the user is on another machine: no display, or an SSH session. */
export function hasScreen({ platform, env }: Desktop): boolean {
  if ((env.SSH_CONNECTION ?? '') !== '') return false;
  if (platform === 'darwin' || platform === 'win32') return true;
  return (env.DISPLAY ?? env.WAYLAND_DISPLAY ?? '') !== '';
}

const BROWSERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** The command and its arguments. The address has no characters that a shell interprets. */
export const browserCommand = (platform: NodeJS.Platform, address: string): readonly string[] => [
  ...(BROWSERS[platform] ?? ['xdg-open']),
  address,
];

/** Resolves to false if the browser could not be started. */
export async function openBrowser(platform: NodeJS.Platform, address: string): Promise<boolean> {
  const [command = '', ...args] = browserCommand(platform, address);
  const child = spawn(command, args, { stdio: 'ignore', detached: true });
  try {
    await once(child, 'spawn');
  } catch {
    return false;
  }
  child.unref();
  return true;
}

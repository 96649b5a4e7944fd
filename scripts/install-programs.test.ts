/** What a stranger's machine lacks is brought, or named; nothing that fails or hangs on the way ends the tests. */
import { createServer, type RequestListener } from 'node:http';
import { join, relative } from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { test as base, expect, vi } from 'vitest';
import { hosted } from '../e2e/static-server.ts';
import { type BareMachine, bareMachine } from '../src/testing/bare-machine.ts';
import { chromium } from './find-programs.mjs';

const SCRIPT = join(import.meta.dirname, 'install-programs.mjs');
const COMMANDS = {
  Chromium: 'chromium',
  Firefox: 'firefox-esr',
  WebKitGTK: 'webkit2gtk-driver xvfb',
  'Python 3': 'python3-venv',
};
const missing = (names: readonly (keyof typeof COMMANDS)[]) =>
  names.map(
    (name) => `${name} is not installed: apt-get install --no-install-recommends ${COMMANDS[name]}`,
  );
const ALL = Object.keys(COMMANDS) as (keyof typeof COMMANDS)[];

/** Puts the programs of the packages that it is asked for where a system has them. */
const APT_GET = `
echo "$@" >> "$LOG"
add() { printf '#!/bin/sh\\nexit 0\\n' > "$1"; /bin/chmod +x "$1"; }
case "$*" in
  *' chromium-headless-shell') [ -z "$OLD" ] || exit 100; add "$BIN/chromium-headless-shell" ;;
  *' chromium') add "$BIN/chromium" ;;
  *' firefox-esr') add "$BIN/firefox-esr" ;;
  *xvfb) add "$BIN/Xvfb"; add "$BIN/WebKitWebDriver"
    /bin/mkdir -p "$BIN/../lib/any/webkit2gtk-4.1"; add "$BIN/../lib/any/webkit2gtk-4.1/MiniBrowser" ;;
  *' python3-venv') add "$BIN/python3" ;;
esac`;
const HANG = 'echo "$$" >> "$LOG"; exec /bin/sleep 600';

/** Runs the installer with Playwright's downloads from a host that answers so. */
async function install(machine: BareMachine, answer: RequestListener, env: NodeJS.ProcessEnv = {}) {
  const host = await hosted(createServer(answer));
  const urls = { PLAYWRIGHT_DOWNLOAD_HOST: host.url };
  const { stdout, stderr, code } = await machine.run(SCRIPT, { ...urls, ...env });
  await host.close();
  expect(code).toBe(0);
  return {
    stdout,
    stderr,
    missing: stdout.split('\n').filter((line) => /not installed/.test(line)),
  };
}
const refuse: RequestListener = (_, response) => response.writeHead(404).end();
/** What Playwright unpacks: a Chromium that starts or does not. */
const send = (script: string) => {
  const browser = relative(
    chromium.executablePath().replace(/(chromium-\d+).*/, '$1'),
    chromium.executablePath(),
  );
  const file = strToU8(`#!/bin/sh\n${script}`);
  const zip = zipSync({ [browser]: file, 'ffmpeg-linux': file });
  return (_: unknown, response: Parameters<RequestListener>[1]) => response.end(zip);
};

const test = base.extend<{ machine: BareMachine }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest asks for one
  machine: async ({}, use) => {
    const machine = bareMachine();
    await use(machine);
    machine.remove();
  },
});
// At once: they wait for programs of their own.
const linux = process.platform === 'linux' ? test.concurrent : test.skip;
vi.setConfig({ testTimeout: 120_000 });

linux('names what is missing, and how to get it, where nothing can be had', async ({ machine }) => {
  machine.add('apt-get', 'echo "$@" >> "$LOG"; echo "E: no network" >&2; exit 100');
  const { missing: named, stderr } = await install(machine, refuse);
  expect(named).toEqual(missing(ALL));
  expect(stderr).toContain('E: no network');
  expect(machine.log().match(/ update$/gm)).toHaveLength(1);
});

linux('ends what hangs, a download and apt-get alike', async ({ machine }) => {
  machine.add('apt-get', HANG);
  const { missing: named, stderr } = await install(machine, () => {}, {
    INSTALL_LIMIT_MS: '999.7',
  });
  expect(named).toEqual(missing(ALL));
  expect(stderr).toContain('apt-get: The operation was aborted due to timeout');
  // It was asked once, for the lists, and is gone.
  const asked = machine.log().match(/^\d+$/gm) ?? [];
  expect(asked.length).toBeLessThan(2);
  for (const pid of asked) expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH');
});

linux(
  'has Chromium from Playwright, and names the others without an apt-get',
  async ({ machine }) => {
    expect((await install(machine, send('exit 0'))).missing).toEqual(missing(ALL.slice(1)));
  },
);

linux(
  'has all from apt-get, Chromium too where one that was downloaded does not start',
  async ({ machine }) => {
    machine.add('apt-get', APT_GET);
    expect((await install(machine, send('exit 127'))).missing).toEqual([]);
    const asked = machine.log();
    expect(asked).toContain(' chromium-headless-shell\n');
    expect(asked).not.toContain(' chromium\n');
    // All is there now: nothing is asked for again.
    expect((await install(machine, refuse)).stdout).toBe('');
    expect(machine.log()).toBe(asked);
  },
);

linux('takes the whole Chromium where a system has no headless shell', async ({ machine }) => {
  machine.add('apt-get', APT_GET);
  expect((await install(machine, refuse, { OLD: 'yes' })).missing).toEqual([]);
  expect(machine.log()).toContain(' chromium\n');
});

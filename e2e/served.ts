/** What the programs installed by npm and pip serve. */
import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, type Page } from '@playwright/test';
import { idle, plotOf, summaryOf } from './viewer.ts';

/** The address that a program prints. */
export function addressOf(server: ChildProcess): Promise<string> {
  return new Promise((found, failed) => {
    let text = '';
    server.stdout?.on('data', (piece) => {
      text += piece;
      const [address] = /http:\S+/.exec(text) ?? [];
      if (address !== undefined) found(address);
    });
    server.once('exit', (code) => failed(new Error(`It ended with ${code}: ${text}`)));
  });
}

/** Recorded as /workspace/pairs/capture.py; a hook at line 338 keeps 192 MiB. */
const WITH_CODE = 'fixtures/pairs/leak_forward_hook.python.pickle.gz';
/** Where the editor finds that line. */
export const HOOK_LINE = `${resolve('fixtures/pairs/capture.py')}:338`;

/** The program with that file, and the folder of its source. */
export const serveWithCode = (): ChildProcess =>
  spawn(process.execPath, [
    ...['bin/vramscope.mjs', WITH_CODE, '--port', '0', '--no-open'],
    ...['--source', 'fixtures/pairs'],
  ]);

/** The page with the given file, under the page's own policy; Ctrl+C ends the program. */
export async function expectServed(page: Page, server: ChildProcess): Promise<void> {
  const answer = await page.goto(await addressOf(server));
  await expect(plotOf(page)).toBeVisible();
  await idle(page);
  await expect(summaryOf(page)).toContainText('Peak reserved');
  expect(answer?.headers()['content-security-policy']).toContain("frame-ancestors 'none'");
  await expect(page.addScriptTag({ content: 'window.name = "inline"' })).rejects.toThrow(
    /Content Security Policy/,
  );
  const ended = new Promise((done) => server.once('exit', done));
  server.kill('SIGINT');
  expect(await ended).toBe(0);
}

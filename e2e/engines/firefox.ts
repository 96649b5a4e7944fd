/** Firefox through WebDriver BiDi, which it speaks itself: no driver is needed. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { type Engine, START_MS, type StartedProgram, startProgram } from './engine.ts';

/** Downloads without asking, and never contacts other servers on its own. */
const PREFERENCES: Readonly<Record<string, boolean | number | string>> = {
  'app.normandy.enabled': false,
  'app.update.enabled': false,
  'browser.download.folderList': 2,
  'browser.download.useDownloadDir': true,
  'browser.download.alwaysOpenPanel': false,
  'browser.safebrowsing.downloads.enabled': false,
  'browser.safebrowsing.malware.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'extensions.getAddons.cache.enabled': false,
  'extensions.systemAddon.update.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'remote.active-protocols': 1,
  'services.settings.server': 'data:,',
  'toolkit.telemetry.enabled': false,
};

const LISTENS = /WebDriver BiDi listening on (ws:\/\/\S+)/;

/** Forced colors, as on a system with high contrast. */
export const FORCED_COLORS = { 'browser.display.document_color_use': 2 } as const;

export const startFirefox =
  (program: string, preferences: Readonly<Record<string, boolean | number | string>> = {}) =>
  async (home: string): Promise<Engine> => {
    const downloads = join(home, 'downloads');
    const profile = join(home, 'profile');
    for (const folder of [downloads, profile]) mkdirSync(folder);
    const all = { ...PREFERENCES, 'browser.download.dir': downloads, ...preferences };
    const lines = Object.entries(all).map(
      ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`,
    );
    writeFileSync(join(profile, 'user.js'), lines.join(''));
    const args = ['--headless', '--no-remote', '--profile', profile];
    const size = ['--width', '1280', '--height', '800'];
    const firefox = await startProgram({
      command: program,
      args: [...args, ...size, '--remote-debugging-port', '0', 'about:blank'],
      isReady: async (printed) => LISTENS.test(printed),
      env: { HOME: home, MOZ_CRASHREPORTER_DISABLE: '1' },
    });
    try {
      const [, address] = LISTENS.exec(firefox.printed()) ?? [];
      const session = await BidiSession.connect(`${address}/session`);
      return await engineOf(session, downloads, firefox);
    } catch (error) {
      await firefox.end();
      throw error;
    }
  };

async function engineOf(
  session: BidiSession,
  downloads: string,
  { residentBytes, end }: StartedProgram,
): Promise<Engine> {
  const { capabilities } = await session.send('session.new', { capabilities: {} });
  const { contexts } = await session.send('browsingContext.getTree', {});
  const { context } = contexts[0];
  const viewport = { width: 1280, height: 800 };
  await session.send('browsingContext.setViewport', { context, viewport });
  const call = (functionDeclaration: string, args: readonly unknown[], isValue: boolean) =>
    session.send('script.callFunction', {
      functionDeclaration,
      arguments: args.map((value) => ({ type: 'string', value: JSON.stringify(value) })),
      awaitPromise: true,
      target: { context },
      resultOwnership: isValue ? 'none' : 'root',
    });
  return {
    downloads,
    version: `Firefox ${capabilities.browserVersion}`,
    residentBytes,
    goto: async (url) => {
      await session.send('browsingContext.navigate', { context, url, wait: 'complete' });
    },
    evaluate: async (fn, ...args) => {
      const text = `async (...args) => JSON.stringify(await (${fn})(...args.map(JSON.parse)))`;
      const answer = await call(text, args, true);
      if (answer.type === 'exception') throw new Error(answer.exceptionDetails.text);
      return answer.result.value === undefined ? undefined : JSON.parse(answer.result.value);
    },
    perform: async (actions) => {
      await session.send('input.performActions', { context, actions });
    },
    upload: async (path) => {
      const find = `() => document.querySelector('input[type=file]')`;
      const { result } = await call(find, [], false);
      const element = { sharedId: result.sharedId };
      await session.send('input.setFiles', { context, element, files: [path] });
    },
    close: async () => {
      session.close();
      await end();
    },
  };
}

/** The content of an answer depends on the command. */
// biome-ignore lint/suspicious/noExplicitAny: the protocol's answers are read where they are asked for
type Answer = any;

class BidiSession {
  readonly #socket: WebSocket;
  readonly #pending = new Map<number, (answer: Answer) => void>();
  #nextId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => {
      const answer = JSON.parse(String(data));
      this.#pending.get(answer.id)?.(answer);
      this.#pending.delete(answer.id);
    });
    socket.on('close', () => {
      for (const answer of this.#pending.values())
        answer({ error: 'closed', message: 'It ended.' });
    });
  }

  static connect(address: string): Promise<BidiSession> {
    const socket = new WebSocket(address, { handshakeTimeout: START_MS });
    return new Promise((resolve, reject) => {
      socket.once('open', () => resolve(new BidiSession(socket)));
      socket.once('error', reject);
    });
  }

  send(method: string, params: unknown): Promise<Answer> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, ({ error, message, result }) => {
        if (error === undefined) resolve(result);
        else reject(new Error(`${method}: ${message} (${error})`));
      });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  close(): void {
    this.#socket.terminate();
  }
}

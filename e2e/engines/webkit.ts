/** WebKitGTK through plain WebDriver: MiniBrowser on its own display. */
import { createServer } from 'node:net';
import { type Engine, startProgram } from './engine.ts';

export interface WebkitPrograms {
  readonly driver: string;
  readonly display: string;
  readonly browser: string;
}

/** No GPU: WebKit draws on the CPU. */
const SOFTWARE = { WEBKIT_SKIA_ENABLE_CPU_RENDERING: '1', WEBKIT_DISABLE_DMABUF_RENDERER: '1' };
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';
const SCRIPT_MS = 120_000;
/** The number that it prints. If there is another display, it complains first. */
const DISPLAY = /^(\d+)\n/m;

export const startWebkit =
  (programs: WebkitPrograms) =>
  async (home: string): Promise<Engine> => {
    const screen = ['-screen', '0', '1400x1000x24', '-nolisten', 'tcp'];
    const display = await startProgram({
      command: programs.display,
      args: ['-displayfd', '3', ...screen],
      isReady: async (printed) => DISPLAY.test(printed),
    });
    // It saves to the home folder if that has no folder for downloads.
    const env = { ...SOFTWARE, HOME: home, DISPLAY: `:${DISPLAY.exec(display.printed())?.[1]}` };
    try {
      const driver = await startDriver(programs.driver, env);
      const running = { ...driver, end: () => driver.end().then(display.end) };
      return await engineOf(running, programs.browser, home).catch(async (error) => {
        await driver.end();
        throw error;
      });
    } catch (error) {
      await display.end();
      throw error;
    }
  };

async function startDriver(command: string, env: Readonly<Record<string, string>>) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/status`).then(
      ({ ok }) => ok,
      () => false,
    );
  const driver = await startProgram({ command, args: ['-p', String(port)], isReady, env });
  return { ...driver, url };
}

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

async function engineOf(
  { url, residentBytes, end }: Awaited<ReturnType<typeof startDriver>>,
  browser: string,
  downloads: string,
): Promise<Engine> {
  const browserOptions = { binary: browser, args: ['--automation'] };
  const alwaysMatch = { 'webkitgtk:browserOptions': browserOptions };
  const { sessionId, capabilities } = await ask(`${url}/session`, {
    capabilities: { alwaysMatch },
  });
  const session = `${url}/session/${sessionId}`;
  await ask(`${session}/timeouts`, { script: SCRIPT_MS });
  await ask(`${session}/window/rect`, { x: 0, y: 0, width: 1280, height: 900 });
  return {
    downloads,
    version: `WebKitGTK ${capabilities.browserVersion}`,
    residentBytes,
    goto: async (address) => {
      await ask(`${session}/url`, { url: address });
    },
    evaluate: async (call, ...args) => {
      const script = `const [args, done] = arguments;
        Promise.resolve(args).then((args) => (${call})(...args)).then(
          (value) => done({ json: JSON.stringify(value) }),
          (error) => done({ error: String(error) }),
        );`;
      const { json, error } = await ask(`${session}/execute/async`, { script, args: [args] });
      if (error !== undefined && error !== null) throw new Error(error);
      return json === undefined || json === null ? undefined : JSON.parse(json);
    },
    perform: async (actions) => {
      await ask(`${session}/actions`, { actions });
    },
    upload: async (path) => {
      const find = { using: 'css selector', value: 'input[type=file]' };
      const { [ELEMENT]: id } = await ask(`${session}/element`, find);
      await ask(`${session}/element/${id}/value`, { text: path });
    },
    close: end,
  };
}

/** The content of an answer depends on the command. */
// biome-ignore lint/suspicious/noExplicitAny: the protocol's answers are read where they are asked for
async function ask(url: string, body: unknown): Promise<any> {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  const { value } = await response.json();
  if (!response.ok) throw new Error(`${url}: ${value.message} (${value.error})`);
  return value;
}

import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { type Command, InvalidArgumentError } from 'commander';
import { printable } from '../../output/report/text.ts';
import { regularSource } from '../byte-sources.ts';
import type { CliIo } from '../cli-io.ts';
import { rankFiles } from '../rank-files.ts';
import { hasScreen, openBrowser } from '../serve/doors.ts';
import { type SnapshotServer, serveSnapshots } from '../serve/snapshot-server.ts';
import { sourceFiles } from '../serve/source-files.ts';

/** A port that hardly anything else uses on such machines. */
const DEFAULT_PORT = 7878;

interface ServeCommandOptions {
  readonly port: number;
  readonly open: boolean;
  readonly source?: string;
}

/** Handles a command line without a command: `vramscope FILE…`, a folder, or nothing at all. */
export function addServing(program: Command, io: CliIo): void {
  program
    .argument(
      '[files...]',
      'snapshots to open in the browser, or a folder with the ranks of a job; without any, the page and its samples',
    )
    .option(
      '--port <number>',
      'port on this machine; if it is taken, the next free one',
      parsePort,
      DEFAULT_PORT,
    )
    .option('--no-open', 'only print the address')
    .option(
      '--source <folder>',
      "the program's code: its lines are shown with their memory, and open in your editor",
    )
    .action(async (files: string[], options: ServeCommandOptions) => {
      const [first] = files;
      // Without a file, the page offers samples. A script has no screen, so print the help instead.
      if (first === undefined && !hasScreen(io.desktop)) program.help({ error: true });
      if (first !== undefined) refuseTypo(program, first);
      const areRanks = files.some((file) => isFolder(file));
      const served = areRanks ? await rankFiles(files) : files;
      // Fails before the browser opens.
      for (const file of served) await regularSource(file);
      const { port } = options;
      const source = options.source === undefined ? undefined : await sourceFiles(options.source);
      if (source?.isComplete === false) {
        io.writeError(
          `vramscope: ${options.source} has more than ${source.paths.length} files; the rest are ignored\n`,
        );
      }
      const page = io.pageFolder;
      const server = await serveSnapshots({ page, files: served, areRanks, source, port });
      await announce(server, files, options, io);
      const interruption = io.interruption();
      if (!interruption.aborted) await once(interruption, 'abort');
      await server.close();
    });
}

async function announce(
  { port, addresses, entranceFile }: SnapshotServer,
  files: readonly string[],
  options: ServeCommandOptions,
  io: CliIo,
): Promise<void> {
  if (options.port !== 0 && port !== options.port) {
    io.writeError(`vramscope: port ${options.port} is in use; using ${port} instead\n`);
  }
  addresses.forEach((address, i) => {
    const name = files[i] === undefined ? '' : `${printable(files[i])}\n  `;
    io.writeOut(`${name}${address}\n`);
  });
  const isSeen = options.open && hasScreen(io.desktop);
  const [first] = addresses;
  const isOpened =
    isSeen &&
    first !== undefined &&
    (await openBrowser(io.desktop.platform, await entranceFile(first)));
  if (!isOpened && options.open) {
    io.writeOut(
      'No browser found on this machine. On your own machine, forward the port and open the address:\n' +
        `  ssh -N -L ${port}:127.0.0.1:${port} ${userInfo().username}@${hostname()}\n`,
    );
  }
  io.writeOut('Only this machine can reach this address. Press Ctrl+C to stop.\n');
}

/** `vramscope stat` is a typo for `stats`, unless a file has that name. */
function refuseTypo(program: Command, word: string): void {
  if (/[./\\]/.test(word) || existsSync(word)) return;
  const names = program.commands.map((command) => command.name());
  const meant = names.find((name) => name.startsWith(word.slice(0, 4)));
  const hint = meant === undefined ? '' : ` (Did you mean ${meant}?)`;
  program.error(`error: unknown command '${word}' and no file with that name${hint}`);
}

const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

function parsePort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port < 65536) return port;
  throw new InvalidArgumentError('Enter a port from 0 (any free port) to 65535.');
}

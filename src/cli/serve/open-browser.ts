/** Shows an address in the user's browser, where there is a screen to show it on. */
import { spawn } from 'node:child_process';

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

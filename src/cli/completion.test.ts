import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { cli } from '../testing/cli-run.ts';

/** What bash offers for a line typed so far. */
function offered(script: string, line: readonly string[]): string[] {
  const setup = `COMP_WORDS=(${line.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${line.length - 1}`;
  const { stdout, stderr } = spawnSync('bash', ['--norc'], {
    input: `${script}\n${setup}\n_vramscope\nprintf '%s\\n' "\${COMPREPLY[@]}"\n`,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((word) => word !== '');
}

describe('completion', () => {
  it('offers commands first, then the options of the one typed', async () => {
    const { out } = await cli(['completion', 'bash']);
    expect(offered(out, ['vramscope', 'sta'])).toContain('stats');
    expect(offered(out, ['vramscope', 'ana'])).toContain('analyze');
    expect(offered(out, ['vramscope', 'analyze', '--fa'])).toEqual(['--fail-on']);
    expect(offered(out, ['vramscope', 'report', '--no-'])).toEqual(['--no-stacks', '--no-holders']);
    expect(offered(out, ['vramscope', 'pack'])).toEqual(
      expect.arrayContaining(['package.json', 'package-lock.json']),
    );
  });

  it('is written for zsh and fish too, every command in it', async () => {
    for (const shell of ['zsh', 'fish']) {
      const { exitCode, out } = await cli(['completion', shell]);
      expect(exitCode).toBe(0);
      for (const command of ['stats', 'analyze', 'whatif', 'report', 'export']) {
        expect(out).toContain(command);
      }
    }
    expect(await cli(['completion', 'tcsh'])).toMatchObject({ exitCode: 2 });
  });
});

import { stdin } from 'node:process';
import type { Command } from 'commander';
import type { CliIo } from '../cli-io.ts';
import { commandOf } from '../output-options.ts';

const EXAMPLES = `
  claude mcp add vramscope -- npx vramscope mcp
  {"mcpServers": {"vramscope": {"command": "npx", "args": ["vramscope", "mcp"]}}}

docs/agents.md lists the tools, and how an agent goes from an OOM to a line of code.
`;

export function mcpCommand(io: CliIo, version: string): Command {
  const about = 'answer a coding agent over stdin and stdout (Model Context Protocol)';
  return commandOf('mcp', about, EXAMPLES).action(async () => {
    // The protocol's library is as large as the rest of the command line, so only this command loads it.
    const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
    const { serveMcp } = await import('../mcp/server.ts');
    const ended = new Promise<void>((resolve) => {
      stdin.once('end', resolve);
    });
    const { workerScript } = io;
    await serveMcp({ version, workerScript, ended }, new StdioServerTransport());
  });
}

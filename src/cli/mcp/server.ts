/** `vramscope mcp`: the Model Context Protocol over stdin and stdout. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { LoadError } from '../../core/base/load-error.ts';
import { printable } from '../../core/report/text.ts';
import type { CliIo } from '../cli-io.ts';
import { jsonOf } from './answer.ts';
import { allocationsTool, callSitesTool } from './memory-tools.ts';
import { OpenFiles } from './open-files.ts';
import { compareTool, findingsTool, openTool, statsTool, whatIfTool } from './report-tools.ts';
import type { Tool } from './tool.ts';

/** In the order in which an agent is likely to want them. */
const TOOLS: readonly Tool[] = [
  openTool,
  findingsTool,
  statsTool,
  callSitesTool,
  allocationsTool,
  whatIfTool,
  compareTool,
];

const INSTRUCTIONS = `Answers questions about PyTorch CUDA memory snapshots (torch.cuda.memory._dump_snapshot()).
Start with \`open\`, then \`findings\`. Sizes are bytes. What cannot be known from a file is null or said in words.
Long answers are paged: ask again with offset = next.`;

/** Answers until the transport closes. Questions wait for one another: each may take all of a core. */
export async function serveMcp(io: CliIo, version: string, transport: Transport): Promise<void> {
  const server = new McpServer({ name: 'vramscope', version }, { instructions: INSTRUCTIONS });
  const files = new OpenFiles(io);
  for (const tool of TOOLS) register(server, files, tool);
  const closed = new Promise<void>((resolve) => {
    server.server.onclose = resolve;
  });
  await server.connect(transport);
  await closed;
}

function register(server: McpServer, files: OpenFiles, tool: Tool): void {
  const { name, title, description, input } = tool;
  const annotations = { readOnlyHint: true, openWorldHint: false };
  const options = { title, description, inputSchema: input, annotations };
  server.registerTool(name, options, async (asked: unknown) => {
    try {
      return textAnswer(jsonOf(await tool.answer(files, asked)));
    } catch (error) {
      if (!(error instanceof LoadError)) throw error;
      const { message, advice } = error.failure;
      return { ...textAnswer(printable(`${message} ${advice}`.trim())), isError: true };
    }
  });
}

const textAnswer = (text: string) => ({ content: [{ type: 'text' as const, text }] });

/** A question of an agent and its answer: plain data, so that it is answered in any thread. */
import { LoadError } from '../../base/load-error.ts';
import { printable } from '../../output/report/text.ts';
import { cutBytes, DEFAULT_ANSWER_BYTES, jsonOf } from './answer.ts';
import { allocationsTool, callSitesTool } from './memory-tools.ts';
import { OpenFiles } from './open-files.ts';
import { compareTool, findingsTool, openTool, statsTool, whatIfTool } from './report-tools.ts';
import type { Tool } from './tool.ts';

/** In the order in which an agent is likely to want them. */
export const TOOLS: readonly Tool[] = [
  openTool,
  findingsTool,
  statsTool,
  callSitesTool,
  allocationsTool,
  whatIfTool,
  compareTool,
];

export interface Question {
  /** Name of a tool. */
  readonly tool: string;
  readonly input: unknown;
}

export interface Answer {
  readonly text: string;
  /** The question could not be answered as it was asked: the text says what would be right. */
  readonly isError: boolean;
}

/** Those of this thread. */
const files = new OpenFiles();

export async function answerQuestion({ tool: name, input }: Question): Promise<Answer> {
  const tool = TOOLS.find((one) => one.name === name);
  if (tool === undefined) return { text: 'There is no such tool.', isError: true };
  try {
    return { text: jsonOf(await tool.answer(files, input)), isError: false };
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    const { message, advice } = error.failure;
    const text = printable(`${message} ${advice}`.trim());
    return { text: cutBytes(text, DEFAULT_ANSWER_BYTES), isError: true };
  }
}

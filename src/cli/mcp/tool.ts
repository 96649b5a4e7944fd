/** What an MCP tool is, and what several of them ask for. */
import { z } from 'zod';
import { LoadError } from '../../base/load-error.ts';
import type { FrameReport } from '../../device/model/frame-text.ts';
import { DEFAULT_ANSWER_BYTES, type Json, MAX_ANSWER_BYTES } from './answer.ts';
import type { OpenFiles } from './open-files.ts';

interface ToolDefinition<Shape extends z.ZodRawShape> {
  readonly name: string;
  readonly title: string;
  /** All that a model knows of the tool. */
  readonly description: string;
  readonly input: Shape;
  /** @throws LoadError for what the agent can mend: its message is the answer. */
  readonly answer: (files: OpenFiles, input: z.infer<z.ZodObject<Shape>>) => Promise<Json>;
}

/** A tool whose input is checked when it comes. */
export interface Tool extends Omit<ToolDefinition<z.ZodRawShape>, 'answer'> {
  readonly answer: (files: OpenFiles, input: unknown) => Promise<Json>;
}

export function defineTool<Shape extends z.ZodRawShape>(definition: ToolDefinition<Shape>): Tool {
  const schema = z.object(definition.input);
  return {
    ...definition,
    answer: async (files, input) => definition.answer(files, schema.parse(input)),
  };
}

const maxBytes = z
  .number()
  .int()
  .min(500)
  .max(MAX_ANSWER_BYTES)
  .default(DEFAULT_ANSWER_BYTES)
  .describe('Upper bound of the answer in bytes.');

const file = z.string().describe('Path of a snapshot: .pickle, also gzip, zip, zstd, or HTML.');

export const OF_FILE = { file, maxBytes };

export const OF_DEVICE = {
  file,
  device: z
    .number()
    .int()
    .optional()
    .describe('CUDA device number; by default the device with the most memory.'),
  maxBytes,
};

export const PAGE = {
  offset: z
    .number()
    .int()
    .min(0)
    .default(0)
    .describe('Rows to skip: the `next` of the answer before.'),
};

export const SEARCH = {
  search: z
    .string()
    .default('')
    .describe(
      'Which allocations: words of a function or file, and qualifiers such as size>64MiB, file:train.py, state:live. "-" before a term excludes.',
    ),
};

/** `/workspace/train.py:21 (step)`: the path whole, for an agent that opens the file. */
export const placeText = ({ file: path, line, name }: FrameReport): string =>
  `${path}:${line} (${name})`;

/** The question cannot be answered as it was asked: says what would be right. */
export const refusal = (message: string): LoadError =>
  new LoadError({ code: 'bad-question', message });

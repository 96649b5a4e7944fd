/** `vramscope mcp` as a program, used by a client that speaks JSON lines over stdin and stdout. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { expect, test } from '@playwright/test';
import { writePickle } from '../src/testing/write-pickle.ts';

const OOM = 'fixtures/oom_fragmented.pickle.gz';
const MIB = 2 ** 20;

interface Message {
  readonly id?: number;
  readonly result?: { readonly isError?: boolean; readonly content?: { readonly text: string }[] };
}

class Agent {
  readonly program: ChildProcess = spawn('node', ['bin/vramscope.mjs', 'mcp'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  readonly #answers = new Map<number, Message>();
  readonly order: number[] = [];
  #heard = () => {};
  #asked = 0;

  constructor() {
    const { stdout } = this.program;
    if (stdout === null) throw new Error('no stdout');
    createInterface(stdout).on('line', (line) => {
      const message: Message = JSON.parse(line);
      if (message.id === undefined) return;
      this.#answers.set(message.id, message);
      this.order.push(message.id);
      this.#heard();
    });
    this.send('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    });
    this.tell('notifications/initialized', {});
  }

  tell(method: string, params: object): void {
    this.program.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`);
  }

  send(method: string, params: object): number {
    const id = this.#asked++;
    this.program.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return id;
  }

  ask(name: string, input: object): number {
    return this.send('tools/call', { name, arguments: input });
  }

  async answer(id: number): Promise<Message> {
    for (;;) {
      const message = this.#answers.get(id);
      if (message !== undefined) return message;
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
  }
}

/** Fifty thousand segments, which keep the simulator busy for as long as it is allowed. */
function writeSlow(path: string): string {
  const events = Array.from({ length: 50_000 }, (_, i) => {
    const common = { addr: (i + 1) * 32 * MIB, size: 20 * MIB, stream: 0, frames: [] };
    return [
      { action: 'segment_alloc', ...common },
      { action: 'alloc', ...common },
    ];
  });
  writeFileSync(path, writePickle({ segments: [], device_traces: [events.flat()] }));
  return path;
}

test('a long question blocks nobody, and its thread ends when it is cancelled', async () => {
  const file = writeSlow(test.info().outputPath('slow.pickle'));
  const agent = new Agent();
  const slow = agent.ask('what_if', { file });
  const next = agent.ask('open', { file: OOM });
  const ping = agent.send('ping', {});
  await agent.answer(ping);
  agent.tell('notifications/cancelled', { requestId: slow });
  const { result } = await agent.answer(next);
  expect(result?.isError).toBe(false);
  expect(agent.order.indexOf(ping)).toBeLessThan(agent.order.indexOf(next));
  expect(agent.order).not.toContain(slow);
  agent.program.stdin?.end();
  await once(agent.program, 'exit');
});

test('the end of stdin is not a failure: pending questions are answered first', async () => {
  const agent = new Agent();
  const question = agent.ask('open', { file: OOM });
  agent.program.stdin?.end();
  const [code] = await once(agent.program, 'exit');
  expect(code).toBe(0);
  const { result } = await agent.answer(question);
  expect(result?.content?.[0]?.text).toContain('Out of memory: memory is fragmented');
});

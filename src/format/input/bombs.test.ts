import { describe, expect, it } from 'vitest';
import { LoadError } from '../../base/load-error.ts';
import { nodePlatform } from '../../cli/byte-sources.ts';
import { BOMBS } from '../../testing/bombs.ts';
import { bytesSource } from '../../testing/byte-source.ts';
import { readSnapshot } from './read-snapshot.ts';

/** Each hostile file must be answered soon, by a warning or one sentence. */
describe('a file that demands too much, or contains impossible values', () => {
  it.each(BOMBS)('$name', async ({ make, answer, name }) => {
    const bytes = make();
    const start = process.cpuUsage();
    const opened = await readSnapshot(bytesSource(bytes, name, 1 << 20), nodePlatform).then(
      ({ snapshot }) => snapshot.warnings.map(({ message }) => message).join('\n'),
      (error: unknown) => {
        if (!(error instanceof LoadError)) throw error;
        return { code: error.failure.code };
      },
    );
    if ('code' in answer) expect(opened).toEqual(answer);
    else expect(opened).toMatch(answer.warning);
    // Processor time, because the machine may be busy with other things.
    expect(process.cpuUsage(start).user).toBeLessThan(10e6);
  });
});

/** A rank's file has a trace for each device of its machine; three of these four are empty. */
import { describe, expect, it } from 'vitest';
import { cli } from '../testing/cli-run.ts';

const RANK = 'fixtures/fleet/fsdp2_rank3.pickle.gz';
const TWO = 'fixtures/two_devices.pickle.gz';
const UNUSED = 'Not used by this process: device 0, device 1, device 2.';

describe("a rank's file", () => {
  it.each([
    ['stats', 'Device 3  24,129 events'],
    ['analyze', ', device 3: no findings beside the verdict\n'],
    ['whatif', 'Device 3  '],
  ])(
    '%s leads with the device that was used, and names the others in a line',
    async (command, first) => {
      const { exitCode, out } = await cli([command, RANK]);
      expect(exitCode).toBe(0);
      expect(out).toContain(first);
      expect(out.split('\n')).toContain(UNUSED);
      expect(out).not.toMatch(/^(\S.*)?Device [012]\b/m);
    },
  );

  it('is whole and in order in JSON', async () => {
    for (const command of ['stats', 'analyze', 'whatif']) {
      const { out } = await cli([command, RANK, '--json']);
      const { devices } = JSON.parse(out);
      expect(devices.map(({ device }: { device: number }) => device)).toEqual([0, 1, 2, 3]);
    }
  });
});

it('the device with the higher peak comes first, and both are listed', async () => {
  const { devices } = JSON.parse((await cli(['stats', TWO, '--json'])).out);
  const [a, b] = devices.map(
    ({ peak }: { peak: { allocatedBytes: { bytes: number } } }) => peak.allocatedBytes.bytes,
  );
  const { out } = await cli(['stats', TWO]);
  const heads = out.split('\n').filter((line) => /^Device \d/.test(line));
  expect(heads.map((line) => line.slice(0, 8))).toEqual(
    a >= b ? ['Device 0', 'Device 1'] : ['Device 1', 'Device 0'],
  );
});

/** Files of other devices from the command line: their own words and counters, and nothing that helps only on CUDA. */
import { describe, expect, test } from 'vitest';
import { cli } from '../testing/cli-run.ts';
import { VENDOR_FILES, type VendorFile, vendorFile } from '../testing/vendor-files.ts';

const OTHERS = VENDOR_FILES.filter((vendor) => vendor !== 'cuda' && vendor !== 'hip');

const NAMES: Partial<Record<VendorFile, string>> = {
  xpu: 'Intel XPU',
  npu: 'Ascend NPU',
  npu950: 'Ascend NPU',
  npu1g: 'Ascend NPU',
  musa: 'Moore Threads MUSA',
  mlu: 'Cambricon MLU',
  other: 'unknown device',
};

const run = async (vendor: VendorFile, ...args: readonly string[]) => {
  const { bytes } = vendorFile(vendor, { fails: true });
  return (await cli([...args, '-'], bytes)).out;
};
const OF_CUDA = /cuda|nvidia|cudnn|\bGPUs?\b|\bNCCL\b/i;
/** Says why there is no simulation, and may name whose allocator is simulated. */
const withoutReason = (text: string) => text.replaceAll(/What if simulates CUDA's allocator/g, '');

describe.each(OTHERS)('%s', (vendor) => {
  test('stats says the device and its counters', async () => {
    const { truth } = vendorFile(vendor, { fails: true });
    const { devices, warnings } = JSON.parse(await run(vendor, 'stats', '--json'));
    const [device] = devices;
    expect(device.anomalies).toBe(0);
    expect(device.end).toMatchObject({
      allocatedBytes: truth.end.allocated,
      reservedBytes: truth.end.reserved,
    });
    expect(device.peak.reservedBytes.bytes).toBe(truth.peak.reserved);
    expect(warnings.map(({ code }: { readonly code: string }) => code)).toContain('device');
    const text = await run(vendor, 'stats');
    expect(text).toContain(`Device 0 (${NAMES[vendor]})`);
    expect(text.replaceAll(/CUDA's( allocator| does| rounding)?|those of CUDA/g, '')).not.toMatch(
      OF_CUDA,
    );
  });

  test('analyze advises nothing that is only of CUDA', async () => {
    const text = await run(vendor, 'analyze');
    expect(text).toContain(NAMES[vendor]);
    expect(text).toMatch(/out of memory/i);
    expect(text).not.toMatch(OF_CUDA);
    expect(
      withoutReason(await run(vendor, 'analyze', '--json')).replaceAll('"kind": "cuda"', ''),
    ).not.toMatch(OF_CUDA);
    expect(await run(vendor, 'analyze', '--markdown')).not.toMatch(OF_CUDA);
  });

  test('whatif gives the reason why it does not simulate', async () => {
    const { devices } = JSON.parse(await run(vendor, 'whatif', '--json'));
    expect(devices).toMatchObject([
      { cases: [], unavailable: expect.stringContaining('allocator') },
    ]);
    expect(await run(vendor, 'whatif')).toMatch(/nothing is\s+predicted/);
  });
});

test('workspaces are told beside the counters', async () => {
  const [device] = JSON.parse(await run('npu', 'stats', '--json')).devices;
  expect(device).toMatchObject({ vendor: 'npu', workspaces: [{ bytes: 64 * 2 ** 20 }] });
  expect(await run('npu', 'stats')).toMatch(/workspaces +64\.00 MiB, outside these counters/);
});

test.each(['cuda', 'hip'] as const)('%s runs what-if', async (vendor) => {
  const [device] = JSON.parse(await run(vendor, 'whatif', '--json')).devices;
  expect(device.cases.length).toBeGreaterThan(5);
  expect(device).not.toHaveProperty('unavailable');
});

test('MUSA settings are read from its own variable', async () => {
  const [device] = JSON.parse(await run('musa', 'whatif', '--json')).devices;
  expect(device.recorded.settings).toBe('max_split_size_mb:64');
});

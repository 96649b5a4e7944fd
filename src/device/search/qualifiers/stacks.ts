import { NO_STACK, type Snapshot } from '../../../format/snapshot/tables.ts';
import type { DeviceModel } from '../../model/device-model.ts';
import { allocationLabelled, maskOf, onceForEach, stacksOfFrames } from '../masks.ts';
import { frameText, type Qualifier } from '../qualifier.ts';

const ALLOCATION_LABEL = /^b[0-9a-f]{1,16}_\d{1,9}$/i;

export const STACKS = {
  /** The stack contains exactly that frame. */
  frame: {
    help: 'a function, a file and a line',
    examples: ['frame:"forward@model.py:12"'],
    read: (frame) =>
      frame === ''
        ? undefined
        : { stacks: (device) => stacksOfFrames(device, framesSpelled(device.snapshot, frame)) },
  },
  /** The call site of one allocation, see `StackReader.siteOf`. Allocations without a stack share one site. */
  site: {
    help: 'the name of an allocation',
    examples: ['site:b7f064c000000_0'],
    read: (label) =>
      ALLOCATION_LABEL.test(label)
        ? { stacks: (device) => stacksOfSite(device, label.toLowerCase()) }
        : undefined,
  },
} as const satisfies Readonly<Record<string, Qualifier>>;

/** By FrameIndex: 1 = the frame has this spelling, as `frameText` writes it. */
function framesSpelled({ strings, frames }: Snapshot, spelling: string): Uint8Array {
  // Only these can be part of it, so few spellings need to be built.
  const isPart = onceForEach(strings.length, (row) => spelling.includes(strings.get(row)));
  return maskOf(frames.length, (frame) => {
    if (!isPart(frames.name[frame]) || !isPart(frames.filename[frame])) return false;
    const name = strings.get(frames.name[frame]);
    const filename = strings.get(frames.filename[frame]);
    return frameText({ name, filename, line: frames.line[frame] }) === spelling;
  });
}

function stacksOfSite(device: DeviceModel, label: string) {
  const { snapshot, replay, stacks } = device;
  const { allocation, note } = allocationLabelled(device, label);
  const site = allocation < 0 ? undefined : stacks.siteOf(replay.allocations.stack[allocation]);
  const rows = snapshot.stacks.length - NO_STACK;
  return { mask: maskOf(rows, (row) => stacks.siteOf(row + NO_STACK) === site), note };
}

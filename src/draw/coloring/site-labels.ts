/** Legend labels for call sites: short, without C++ types, all different. */

import { allocationLabel } from '../../device/model/allocation-labels.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { frameLocation, fullPlace, functionText } from '../../device/model/frame-text.ts';
import { type SiteName, siteNames } from '../../device/model/site-names.ts';
import type { FrameView } from '../../device/model/types.ts';
import { searchTerm } from '../../device/search/qualifier.ts';
import type { StackIndex } from '../../format/snapshot/tables.ts';
import type { ColorLabel } from './first-colorings.ts';

/**
 * Each site's line and the innermost function that it led to. Sites with the same line are distinguished by their
 * callers:
 *
 *   scenarios.py:81 (attention)
 *   scenarios.py:81 (attention) · called from scenarios.py:95
 *   model.py:19 · by way of resnet.py:155
 *   model.py:12 · linear in functional.py:125
 *   AddmmBackward0 (backward pass)
 *
 * @param sites distinct rows from `StackReader.siteOf`, of the device's allocations
 */
export function siteLabels(
  context: DeviceModel,
  sites: readonly StackIndex[],
): readonly ColorLabel[] {
  const { replay, snapshot, stacks } = context;
  const { first, rowOf } = context.callSites();
  const names = siteNames(context);
  return sites.map((site) => {
    const row = rowOf(site);
    const frame = stacks.topUserFrameView(site);
    const named = allocationLabel(replay.allocations, snapshot.addresses, first[row]);
    return {
      label: labelText(names[row]),
      about: frame === undefined ? '' : aboutOf(frame),
      term: searchTerm('site', named),
    };
  });
}

/** Everything recorded: 'step in /home/me/train.py:21', or the whole C++ name. */
function aboutOf(frame: FrameView): string {
  const place = fullPlace(frame);
  return frameLocation(frame) === undefined ? place : `${functionText(frame)} in ${place}`;
}

function labelText(name: SiteName | undefined): string {
  if (name === undefined) return '';
  const { line, places, number } = name;
  const first = places[0]?.isInner ? ' · by way of ' : ' · called from ';
  const chain = places.map(({ place }) => place).join(' ← ');
  return `${line}${chain && first + chain}${number === undefined ? '' : ` (${number})`}`;
}

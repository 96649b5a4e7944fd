/** Legend labels for call sites: short, without C++ types, all different. */

import { groupBy } from '../../base/collections.ts';
import { tellApart } from '../../base/tell-apart.ts';
import { allocationLabel } from '../../device/model/allocation-labels.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import {
  frameLabel,
  frameLocation,
  fullPlace,
  functionText,
  leafText,
} from '../../device/model/frame-text.ts';
import { absenceText } from '../../device/model/stacks.ts';
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
 * @param sites distinct rows from `StackReader.siteOf`
 */
export function siteLabels(
  context: DeviceModel,
  sites: readonly StackIndex[],
): readonly ColorLabel[] {
  const { stacks } = context;
  const frames = sites.map((site) => stacks.topUserFrameView(site));
  const labels = sites.map((site, at) => siteText(frames[at], stacks.leafFrameView(site)));
  const callers = sites.map((site) => callersOf(context, site));
  return withCallers(labels, callers).map((label, at) => {
    const frame = frames[at];
    const about = frame === undefined ? '' : aboutOf(frame);
    return { label, about, term: termOf(context, sites[at]) };
  });
}

/** Everything recorded: 'step in /home/me/train.py:21', or the whole C++ name. */
function aboutOf(frame: FrameView): string {
  const place = fullPlace(frame);
  return frameLocation(frame) === undefined ? place : `${functionText(frame)} in ${place}`;
}

function siteText(frame: FrameView | undefined, leaf: FrameView | undefined): string {
  if (frame === undefined) return absenceText('recorded');
  if (leaf === undefined) return frameLabel(frame);
  return `${frameLocation(frame) ?? functionText(frame)} · ${leafText(leaf)}`;
}

interface Near {
  readonly place: string;
  /** Code that the line called, in a library. */
  readonly isInner: boolean;
}

/** The line's callers, nearest first: those in the user's code, then all others; then what it called. */
function callersOf({ stacks }: DeviceModel, site: StackIndex): readonly Near[] {
  const top = stacks.topUserFrame(site);
  const [own, others, inner]: Near[][] = [[], [], []];
  let isOutside = false;
  for (const index of stacks.frames(site)) {
    const frame = stacks.frame(index);
    const place = frameLocation(frame);
    const isTold = frame.kind !== 'cpp' && index !== top;
    if (isTold && place !== undefined) {
      const group = !isOutside ? inner : frame.kind === 'user' ? own : others;
      group.push({ place, isInner: !isOutside });
    }
    if (index === top) isOutside = true;
  }
  return [...own, ...others, ...inner];
}

/** Equal labels get the nearest caller in which they differ; if none differs, they are numbered. */
function withCallers(
  labels: readonly string[],
  callers: readonly (readonly Near[])[],
): readonly string[] {
  const unique = [...labels];
  const chains = {
    lengthOf: (at: number) => callers[at].length,
    keyOf: (at: number, depth: number) => callers[at][depth]?.place ?? '',
  };
  const all = [...labels.keys()];
  for (const group of groupBy(all, (at) => labels[at]).values()) {
    tellApart(group, chains, {
      onPlace(same, place, depth, from) {
        for (const at of same) {
          const first = callers[at][depth]?.isInner ? ' · by way of ' : ' · called from ';
          if (place !== '') unique[at] += `${from === 0 ? first : ' ← '}${place}`;
        }
      },
      onAlike: (alike) =>
        alike.forEach((at, i) => {
          unique[at] += ` (${i + 1})`;
        }),
    });
  }
  return unique;
}

/** Names the site by one of its allocations. */
function termOf(context: DeviceModel, site: StackIndex): string | undefined {
  const { replay, snapshot } = context;
  const { first, rowOf } = context.callSites();
  const row = rowOf(site);
  if (row < 0) return undefined;
  return searchTerm('site', allocationLabel(replay.allocations, snapshot.addresses, first[row]));
}

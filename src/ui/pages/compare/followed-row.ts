/** A row of the table, followed into both files: the search that finds its allocations in each. */
import { useEffect } from 'react';
import type { SiteHalf } from '../../../analysis/compare/types.ts';
import { isAbortError } from '../../../base/errors.ts';
import { frameTerm, siteTerm } from '../../../device/search/qualifiers/stacks.ts';
import type { ViewStore } from '../../../state/view-store.ts';
import { useServices } from '../../shared/services.ts';
import type { OpenSide } from './side-context.tsx';
import type { SiteRow } from './site-rows.ts';

interface FollowedSearch {
  /** '' where this side has nothing of the row. */
  readonly a: string;
  readonly b: string;
}

const NOTHING: FollowedSearch = { a: '', b: '' };

/** Puts the row's search into the views of both sides, and takes it away with the row. */
export function useFollowedRow(
  row: SiteRow | undefined,
  a: { readonly open: OpenSide; readonly view: ViewStore },
  b: { readonly open: OpenSide; readonly view: ViewStore },
): void {
  const { idle } = useServices();
  const { open: openA, view: viewA } = a;
  const { open: openB, view: viewB } = b;
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const show = (found: FollowedSearch) => {
      if (signal.aborted) return;
      viewA.adjust({ search: found.a, onlyMatches: false });
      viewB.adjust({ search: found.b, onlyMatches: false });
    };
    if (row === undefined) {
      show(NOTHING);
      return;
    }
    const find = async () =>
      show({
        a: await searchOf(openA, row.a, row.class, signal),
        b: await searchOf(openB, row.b, row.class, signal),
      });
    idle.during(find).catch((error: unknown) => {
      if (!isAbortError(error)) show(NOTHING);
    });
    return () => controller.abort();
  }, [row, openA, openB, viewA, viewB, idle]);
}

/** By one of its allocations where it is one call stack, else by its line. */
async function searchOf(
  { session, device }: OpenSide,
  half: SiteHalf | undefined,
  className: string,
  signal: AbortSignal,
): Promise<string> {
  if (half === undefined || half.example < 0) return '';
  if (className === 'before-recording') return '';
  const frame = half.stacks.length > 1 ? half.frame : undefined;
  if (frame !== undefined) return `${frameTerm(frame)} class:${className}`;
  const request = { deviceIndex: device.index, index: half.example };
  const { label } = await session.allocation(request, { signal });
  return `${siteTerm(label)} class:${className}`;
}

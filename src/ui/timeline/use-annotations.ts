import { useEffect, useState } from 'react';
import type { AnnotationSpan, DeviceInfo, SessionInfo } from '../../core/query/types.ts';
import { useServices } from '../app/services.ts';

export interface Annotations {
  readonly spans: readonly AnnotationSpan[];
  /** Nesting levels. */
  readonly levels: number;
}

const NONE: Annotations = { spans: [], levels: 0 };

/** The `record_function` ranges of a device; none until they came. */
export function useAnnotations(info: SessionInfo, device: DeviceInfo): Annotations {
  const { session } = useServices();
  const [annotations, setAnnotations] = useState(NONE);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another snapshot has other annotations
  useEffect(() => {
    let isLatest = true;
    session.annotations({ device: device.index }).then(
      (spans) => {
        if (!isLatest) return;
        const levels = spans.reduce((most, { depth }) => Math.max(most, depth + 1), 0);
        setAnnotations({ spans, levels });
      },
      // The worker is gone: the timeline says so.
      () => undefined,
    );
    return () => {
      isLatest = false;
    };
  }, [session, info, device.index]);
  return annotations;
}

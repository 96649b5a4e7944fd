import { useEffect, useState } from 'react';
import { type AnnotationLanes, annotationLanes } from '../../core/device/annotation-lanes.ts';
import type { DeviceInfo, SessionInfo } from '../../core/device/types.ts';
import { useServices } from '../shared/services.ts';

const NONE = annotationLanes([]);

/** The `record_function` ranges of a device; none until they came. */
export function useAnnotations(info: SessionInfo, device: DeviceInfo): AnnotationLanes {
  const { session } = useServices();
  const [annotations, setAnnotations] = useState(NONE);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another snapshot has other annotations
  useEffect(() => {
    let isLatest = true;
    session.annotations({ deviceIndex: device.index }).then(
      (lanes) => {
        if (isLatest) setAnnotations(lanes);
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

import { useEffect } from 'react';
import { mainDeviceIndex } from '../../../device/model/main-device.ts';
import { rememberFile } from '../../../state/recent-files.ts';
import { usePreferences } from '../../../state/stores.ts';
import { useDevice, useServices } from '../../shared/services.ts';

/** Lists the open file among the recent ones, if the user wants that. @param verdict on the device in view */
export function useRememberedFile(verdict: string | undefined): void {
  const { loader } = useServices();
  const { info, device } = useDevice();
  const isWanted = usePreferences((now) => now.remembersFiles);
  const isMain = device.index === mainDeviceIndex(info.devices);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `info` says that another file is open
  useEffect(() => {
    const source = loader.opened();
    // A full disk or a private window: then the file is not listed.
    if (isWanted && source)
      rememberFile(source, isMain ? verdict : undefined).catch(() => undefined);
  }, [loader, info, isWanted, isMain, verdict]);
}

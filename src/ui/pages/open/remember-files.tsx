import { usePreferences, useStores } from '../../../state/stores.ts';
import { fetchCode, useLazy } from '../../shared/lazy.ts';

const loadRecent = () => import('./recent-files.tsx');

/** Only Chromium's browsers let a page find a file again, and none of them in a frame. Elsewhere this is absent. */
const canRemember = (): boolean => 'showOpenFilePicker' in window && window.parent === window;

/** The user's switch, and below it the files. Nothing is stored before the user asks for it. */
export function RememberFiles() {
  const { preferences } = useStores();
  const remembers = usePreferences((now) => now.remembersFiles) && canRemember();
  const recent = useLazy(loadRecent, remembers, () => undefined);
  if (!canRemember()) return undefined;
  async function remember(wanted: boolean): Promise<void> {
    preferences.set({ remembersFiles: wanted });
    if (wanted) return;
    try {
      await (await fetchCode(loadRecent)).forgetAllFiles();
    } catch {
      // They are still there, and so is the list.
      preferences.set({ remembersFiles: true });
    }
  }
  return (
    <>
      <label className="remember-files dim">
        <input
          type="checkbox"
          checked={remembers}
          onChange={({ target }) => void remember(target.checked)}
        />{' '}
        Remember the files I open: their names, places and verdicts, in this browser only
      </label>
      {remembers && recent !== undefined && <recent.RecentFiles />}
    </>
  );
}

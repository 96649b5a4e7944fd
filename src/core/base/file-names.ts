/** Paths and file names as they stand in snapshots and on disk: of any system, read on another. */

/** 'train.py' of '/home/me/train.py' and 'C:\\me\\train.py'. */
export function fileName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}

/** 'run/train.py' of '/home/me/run/train.py': two parts tell files apart in most projects. */
export function shortPath(path: string): string {
  const parts = path.split(/[\\/]/).filter((part) => part !== '');
  return parts.length <= 2 ? path : parts.slice(-2).join('/');
}

/** 'run 7.pickle.gz' is 'run 7': the name of what is made of a snapshot, before its extension. */
export function snapshotStem(name: string): string {
  return name.replace(/(\.(pickle|pkl|gz|zip|zst|html|json))+$/i, '');
}

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

/** Longer names are refused by file systems, which allow 255 bytes: a letter may take four. */
const MAX_STEM_LETTERS = 50;
/** What some system reads as a path, a device or a pattern, and what no name should show. */
const UNSAFE_IN_NAMES = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}"*/:<>?\\|]/gu;
/** Windows opens a device by these names, whatever their extension. */
const WINDOWS_DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)$/i;

/**
 * 'run 7.pickle.gz' is 'run 7': the name of what is made of a snapshot, before its extension. The
 * name may come from inside a file, so it is never a path: '../../.bashrc' is 'bashrc'.
 */
export function snapshotStem(name: string): string {
  const stem = fileName(name)
    .replace(/(\.(pickle|pkl|gz|zip|zst|html|json))+$/i, '')
    .replace(UNSAFE_IN_NAMES, '_')
    .replace(/^[. -]+|[. ]+$/g, '');
  const short = [...stem].slice(0, MAX_STEM_LETTERS).join('');
  return short === '' || WINDOWS_DEVICE.test(short) ? 'snapshot' : short;
}

/** The beginning of a text in at most so many bytes of UTF-8, which names of files are limited in; no letter is halved. */
export function cutUtf8(text: string, maxBytes: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= maxBytes) return text;
  return new TextDecoder().decode(bytes.subarray(0, maxBytes)).replace(/\ufffd$/, '');
}

/** File names and paths in snapshots and on disk. They may come from another operating system. */

/** '/home/me/train.py' and 'C:\\me\\train.py' give 'train.py'. */
export function fileName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}

/** '/home/me/run/train.py' gives 'run/train.py': two parts tell files apart in most projects. */
export function shortPath(path: string): string {
  const parts = path.split(/[\\/]/).filter((part) => part !== '');
  return parts.length <= 2 ? path : parts.slice(-2).join('/');
}

/** File systems refuse names over 255 bytes, and a letter may take four. */
const MAX_STEM_LETTERS = 50;
/** Characters that some system reads as a path, a device or a pattern, or that no name should show. */
const UNSAFE_IN_NAMES = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}"*/:<>?\\|]/gu;
/** Windows opens a device by these names, whatever their extension. */
const WINDOWS_DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)$/i;

/**
 * The base name for files made from a snapshot: 'run 7.pickle.gz' gives 'run 7'. The name may come from inside a file,
 * so the result is never a path: '../../.bashrc' gives 'bashrc'.
 */
export function snapshotStem(name: string): string {
  const stem = fileName(name)
    .replace(/(\.(pickle|pkl|gz|zip|zst|html|json))+$/i, '')
    .replace(UNSAFE_IN_NAMES, '_')
    .replace(/^[. -]+|[. ]+$/g, '');
  const short = [...stem].slice(0, MAX_STEM_LETTERS).join('');
  return short === '' || WINDOWS_DEVICE.test(short) ? 'snapshot' : short;
}

/**
 * The start of a text in at most `maxBytes` of UTF-8, without splitting a letter. File systems limit names in bytes.
 */
export function cutUtf8(text: string, maxBytes: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= maxBytes) return text;
  return new TextDecoder().decode(bytes.subarray(0, maxBytes)).replace(/\ufffd$/, '');
}

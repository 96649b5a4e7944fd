/** Settings worth trying on any recording, in the words of PYTORCH_ALLOC_CONF; '' is the default. */
export const PRESETS: readonly string[] = [
  '',
  'expandable_segments:True',
  'expandable_segments:True,roundup_power2_divisions:8',
  'max_split_size_mb:64',
  'max_split_size_mb:128',
  'max_split_size_mb:512',
  'roundup_power2_divisions:8',
  'roundup_power2_divisions:[256:1,512:2,1024:4,>:8]',
  'garbage_collection_threshold:0.8',
  'garbage_collection_threshold:0.6,max_split_size_mb:128',
];

/**
 * The line to put before a command, by today's name (2.9 and later) and by the older one, which all
 * versions read. Quoted where a shell would take a mark for its own: the '>' of '[256:1,>:8]' writes a file.
 */
export function environmentLines(settings: string): readonly [string, string] {
  const value = /^[\w:,.]*$/.test(settings) ? settings : `'${settings.replaceAll("'", "'\\''")}'`;
  return [`PYTORCH_ALLOC_CONF=${value}`, `PYTORCH_CUDA_ALLOC_CONF=${value}`];
}

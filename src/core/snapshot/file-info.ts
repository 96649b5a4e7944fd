/** What kind of file a snapshot came from; part of every report. */
export type Container = 'pickle' | 'gzip' | 'zip' | 'zstd' | 'html' | 'json' | 'compact';

export interface FileInfo {
  readonly name: string;
  readonly bytes: number;
  readonly container: Container;
  /** Pickle protocol; undefined for JSON and compact ones. */
  readonly protocol: number | undefined;
  readonly decoder: 'columnar' | 'general';
  /** Set when only the part before a fault was opened: what the fault was. */
  readonly partial: string | undefined;
}

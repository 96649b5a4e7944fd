import './frame-cell.css';

interface FrameCellProps {
  /** The function. */
  readonly name: string;
  /** 'models/gpt.py:52'; undefined or '' where the file is not known. */
  readonly path: string | undefined;
  readonly title: string;
  /** What the line led to: 'gelu'. */
  readonly leaf?: string | undefined;
  /** And where that is: 'functional.py:16'. */
  readonly leafPlace?: string | undefined;
}

/**
 * A frame in a row of a table: 'forward models/gpt.py:52 · gelu in functional.py:16'. Where it does not fit, its folders go
 * first, then the leaf's place, then the function, then the leaf; of the file's name the front, so that the line
 * number stays.
 */
export function FrameCell({ name, path = '', title, leaf, leafPlace }: FrameCellProps) {
  const slash = path.lastIndexOf('/') + 1;
  return (
    <span className="frame-cell" title={title}>
      <span className="frame-cell-name">{name}</span>{' '}
      <span className="frame-cell-path dim">
        <span className="frame-cell-folder">{path.slice(0, slash)}</span>
        <span className="frame-cell-file">
          <bdi>{path.slice(slash)}</bdi>
        </span>
      </span>
      {leaf !== undefined && <span className="frame-cell-leaf"> · {leaf}</span>}
      {leafPlace !== undefined && (
        <span className="frame-cell-leaf-place dim"> in {leafPlace}</span>
      )}
    </span>
  );
}

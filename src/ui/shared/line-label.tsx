import './line-label.css';

/**
 * A label such as 'train.py:21 (step)' in a box that may be too narrow: what follows the line gives way first, then
 * the file's name, and never the line's number, which is what people look for. Screen readers read its parts as
 * words of their own: a button that it names needs a label too.
 */
export function LineLabel({ label }: { readonly label: string }) {
  const [, file, line, rest] = /^(.*?)(:\d+)(.*)$/s.exec(label) ?? [];
  if (file === undefined || line === undefined) {
    return (
      <span className="line-label">
        <span className="line-label-rest">{label}</span>
      </span>
    );
  }
  return (
    <span className="line-label">
      <span className="line-label-file">{file}</span>
      <span className="line-label-line">{line}</span>
      {rest !== '' && <span className="line-label-rest">{rest}</span>}
    </span>
  );
}

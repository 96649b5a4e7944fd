import { buildFindings } from '../../core/report/findings.ts';
import { findingsMarkdown } from '../../core/report/findings-markdown.ts';
import type { FindingsState } from '../../state/findings-store.ts';
import { CopyButton } from '../shared/copy-button.tsx';
import { useDevice } from '../shared/device-context.ts';

/** All of it for an issue or a chat. */
export function CopyFindings({ state }: { readonly state: FindingsState }) {
  const { info, device } = useDevice();
  const report = buildFindings(info.file, [device], [state]);
  return (
    <CopyButton
      text={findingsMarkdown(report).join('\n')}
      label="all findings as Markdown"
      title="Copy all findings and checks as Markdown, for an issue or a chat"
      className="button"
    >
      Copy as Markdown
    </CopyButton>
  );
}

/** A separate page: a table of ten million rows, built by e2e/table.spec.ts. */
import '../src/ui/theme/base.css';
import { createRoot } from 'react-dom/client';
import type { Column } from '../src/ui/table/table-row.tsx';
import { VirtualTable } from '../src/ui/table/virtual-table.tsx';

const ROWS = 10_000_000;

const source = {
  count: ROWS,
  async load(from: number, to: number) {
    // As long as a worker takes at worst, so that placeholders can be seen.
    await new Promise((resolve) => setTimeout(resolve, 30));
    return Array.from({ length: to - from }, (_, i) => from + i);
  },
};

const COLUMNS: readonly Column<number>[] = [
  { id: 'row', header: 'Row', widthPx: 120, align: 'end', render: (row) => `row ${row}` },
  { id: 'square', header: 'Square', widthPx: 200, grow: 1, render: (row) => row * row },
];

function Page() {
  return (
    <div style={{ height: 500 }}>
      <VirtualTable
        label="Numbers"
        columns={COLUMNS}
        source={source}
        empty="none"
        onActivate={(row) => {
          document.title = `activated ${row}`;
        }}
      />
    </div>
  );
}

const root = document.getElementById('root');
if (root !== null) createRoot(root).render(<Page />);

/**
 * The folders of src/ and what each may import: the one place where this is written down.
 * `find-violations.mjs` checks it (what is not listed is denied), and `print-layers.mjs` makes the
 * table of docs/architecture.md of it.
 *
 * `imports`: folders or files under src/. `types`: those of which only types may be imported.
 * `packages`: npm packages. `node`: Node's builtins.
 * A folder may always import itself; tests and src/testing may import anything.
 */
const CORE_BELOW_FINDINGS = ['core/base', 'core/snapshot', 'core/replay', 'core/query'];

/** @type {readonly Layer[]} */
export const LAYERS = [
  {
    folder: 'core/base',
    does: 'growable typed columns, interners, binary search, 64-bit addresses, errors a user reads',
  },
  {
    folder: 'core/pickle',
    does: 'the columnar pickle machine, protocols 0 to 5; knows no PyTorch',
    imports: ['core/base'],
  },
  {
    folder: 'core/snapshot',
    does: "PyTorch's dictionary in all its versions, as tables; every version quirk ends here",
    imports: ['core/base', 'core/pickle'],
  },
  {
    folder: 'core/compact',
    does: "a snapshot's tables as few bytes, for reports; read back as if it were a pickle",
    imports: ['core/base', 'core/snapshot'],
  },
  {
    folder: 'core/input',
    does: 'what the bytes are (pickle, gzip, zip, zstd, HTML, JSON), and unwrapping them',
    imports: ['core/base', 'core/pickle', 'core/snapshot', 'core/compact'],
    packages: ['fflate', 'fzstd', 'pickleparser'],
  },
  {
    folder: 'core/replay',
    does: "the allocator's state from the events, to the byte",
    imports: ['core/base', 'core/snapshot'],
  },
  {
    folder: 'core/timeline',
    does: 'from a viewport to pixels and ids; level of detail; what the colours mean',
    imports: ['core/base', 'core/snapshot', 'core/replay', 'core/query'],
  },
  {
    folder: 'core/query',
    does: 'pure questions over the tables',
    imports: ['core/base', 'core/snapshot', 'core/replay'],
    packages: ['re2js'],
  },
  {
    folder: 'core/findings',
    does: 'detectors, one a file',
    imports: CORE_BELOW_FINDINGS,
  },
  {
    folder: 'core/export',
    does: 'what other programs read: CSV, Arrow, Perfetto, speedscope, folded stacks',
    imports: CORE_BELOW_FINDINGS,
    packages: ['@uwdata/flechette'],
  },
  {
    folder: 'core/whatif',
    does: 'the allocator run again under other settings',
    imports: ['core/base', 'core/snapshot', 'core/replay'],
  },
  {
    folder: 'core/report',
    does: 'summaries and findings as text, Markdown and JSON',
    imports: [...CORE_BELOW_FINDINGS, 'core/timeline', 'core/findings', 'core/whatif'],
    types: ['core/input'],
  },
  {
    folder: 'engine',
    does: 'workers, their protocol, the session handle; the only user of Worker',
    imports: ['core'],
    packages: ['fflate'],
  },
  {
    folder: 'state',
    does: 'Zustand stores, the URL codec, preferences',
    // Of these two the lists of names that a link may hold.
    imports: ['core/base', 'core/replay/types.ts', 'core/timeline/types.ts'],
    types: ['core', 'engine'],
    packages: ['react', 'zustand'],
  },
  {
    folder: 'ui',
    does: 'React, a folder a view',
    imports: [
      ...CORE_BELOW_FINDINGS,
      'core/timeline',
      'core/findings',
      'core/report',
      'core/export',
      'core/whatif',
      'engine/client.ts',
      'state',
    ],
    types: ['core', 'engine'],
    packages: [
      '@tanstack/react-virtual',
      'd3',
      'html-to-image',
      'lucide-react',
      'react',
      'react-dom',
      'react-resizable-panels',
      'virtual:pwa-register',
      'zustand',
    ],
  },
  {
    folder: 'cli',
    does: 'the command line, on Node',
    imports: ['core'],
    packages: ['commander'],
    node: true,
  },
  {
    folder: 'main.tsx',
    does: 'puts the page together',
    imports: ['core', 'engine', 'state', 'ui'],
    packages: ['react', 'react-dom', 'zustand'],
  },
];

/**
 * @typedef {object} Layer
 * @property {string} folder
 * @property {string} does
 * @property {readonly string[]} [imports]
 * @property {readonly string[]} [types]
 * @property {readonly string[]} [packages]
 * @property {boolean} [node]
 */

/**
 * The folders of src/ and what each may import: the one place where this is written down.
 * `find-violations.mjs` checks it (what is not listed is denied), and `print-layers.mjs` makes the
 * table of docs/architecture.md of it.
 *
 * `imports`: folders or files under src/. `types`: those of which only types may be imported.
 * `packages`: npm packages. `node`: Node's builtins.
 * A folder may always import itself; tests and src/testing may import anything.
 */
const TABLES = ['core/base', 'core/snapshot', 'core/replay'];
const DEVICE = [...TABLES, 'core/device'];

/** What every folder of ui may use: the ground. A view's own neighbours are named with it. */
export const UI_GROUND = {
  imports: [
    'core/base',
    'core/snapshot',
    'core/replay',
    'core/device',
    'core/classes/types.ts',
    'core/search',
    'core/lists',
    'core/coloring',
    'core/raster',
    'core/address-map',
    'core/allocator-state',
    'core/flame-graph',
    'core/memory-summary',
    'core/findings',
    'core/report',
    'core/export',
    'core/simulator',
    'engine/client.ts',
    'state',
    'ui/shared',
    'ui/theme',
  ],
  types: ['core', 'engine'],
  packages: ['d3', 'lucide-react', 'react', 'react-dom', 'zustand'],
};

/**
 * A folder of ui: the ground, and the folders of ui below it that it names.
 * @param {string} name
 * @param {string} does
 * @param {readonly string[]} [below]
 * @param {readonly string[]} [packages]
 * @returns {Layer}
 */
const ui = (name, does, below = [], packages = []) => ({
  folder: `ui/${name}`,
  does,
  imports: [...UI_GROUND.imports, ...below.map((folder) => `ui/${folder}`)],
  types: UI_GROUND.types,
  packages: [...UI_GROUND.packages, ...packages],
});

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
    folder: 'core/snapshot-file',
    does: "a snapshot's tables as few bytes, for reports; read back as if it were a pickle",
    imports: ['core/base', 'core/snapshot'],
  },
  {
    folder: 'core/input',
    does: 'what the bytes are (pickle, gzip, zip, zstd, HTML, JSON), and unwrapping them',
    imports: ['core/base', 'core/pickle', 'core/snapshot', 'core/snapshot-file'],
    packages: ['fflate', 'fzstd', 'pickleparser'],
  },
  {
    folder: 'core/replay',
    does: "the allocator's state from the events, to the byte",
    imports: ['core/base', 'core/snapshot'],
  },
  {
    folder: 'core/device',
    does: 'one device of a snapshot, ready to be asked: stacks, call sites, annotations, labels, details',
    imports: TABLES,
  },
  {
    folder: 'core/classes',
    does: 'what each allocation is to the program: a parameter, a gradient, an activation, …',
    imports: DEVICE,
  },
  {
    folder: 'core/search',
    does: 'the search language: from a text to a mask over the allocations',
    imports: [...DEVICE, 'core/classes'],
    packages: ['re2js'],
  },
  {
    folder: 'core/allocator-state',
    does: "the allocator's segments and blocks at any event, and what empty_cache() would give back",
    imports: DEVICE,
  },
  {
    folder: 'core/lists',
    does: 'events, allocations and call sites as rows: order, filters, texts',
    imports: [...DEVICE, 'core/classes', 'core/search'],
  },
  {
    folder: 'core/flame-graph',
    does: 'memory by call stack: live at an event, allocated in a window, or a difference',
    imports: [...DEVICE, 'core/classes', 'core/search'],
  },
  {
    folder: 'core/memory-summary',
    does: 'the figures of memory_summary(), the settings and the facts of a recording',
    imports: DEVICE,
  },
  {
    folder: 'core/slice',
    does: 'a part of a recording as a snapshot of its own',
    imports: [...DEVICE, 'core/allocator-state'],
  },
  {
    folder: 'core/raster',
    does: 'from a viewport to pixels and ids of the timeline; level of detail',
    imports: [...DEVICE, 'core/classes', 'core/search'],
  },
  {
    folder: 'core/coloring',
    does: 'which colour an allocation gets, and what the colours mean: the legend',
    imports: [...DEVICE, 'core/classes', 'core/search', 'core/raster'],
  },
  {
    folder: 'core/live',
    does: 'traces of a file that is still being read, replayed and drawn so far',
    imports: [...DEVICE, 'core/raster', 'core/coloring'],
  },
  {
    folder: 'core/address-map',
    does: 'addresses over time: from a viewport to pixels, free ranges and segments',
    imports: [...DEVICE, 'core/classes', 'core/search', 'core/raster'],
  },
  {
    folder: 'core/findings',
    does: 'account/, where every reserved byte is; verdict/, the cause and what helps; detectors/, one a file; steps/, the steps of a program',
    imports: [...DEVICE, 'core/classes', 'core/allocator-state'],
  },
  {
    folder: 'core/compare',
    does: 'why one recording needs more than another: call sites matched, exact differences, the verdict',
    imports: [
      ...DEVICE,
      'core/classes',
      'core/memory-summary',
      'core/findings',
      'core/flame-graph',
    ],
  },
  {
    folder: 'core/summary-file',
    does: "one rank's snapshot in at most 64 kB: written, and read back",
    imports: [
      ...DEVICE,
      'core/input',
      'core/classes',
      'core/raster',
      'core/memory-summary',
      'core/findings',
    ],
  },
  {
    folder: 'core/ranks',
    does: "a job from its ranks' summaries: roles, outliers and their causes, who failed first",
    imports: ['core/base', 'core/classes/types.ts', 'core/device', 'core/summary-file'],
    types: ['core/replay'],
  },
  {
    folder: 'core/export',
    does: 'what other programs read: CSV, Arrow, Perfetto, speedscope, folded stacks',
    imports: [...DEVICE, 'core/classes', 'core/lists', 'core/flame-graph'],
    packages: ['@uwdata/flechette'],
  },
  {
    folder: 'core/simulator',
    does: 'the allocator run again under other settings',
    imports: TABLES,
  },
  {
    folder: 'core/report',
    does: 'summaries and findings as text, Markdown and JSON',
    imports: [
      ...DEVICE,
      'core/classes',
      'core/memory-summary',
      'core/findings',
      'core/simulator',
      'core/compare',
      'core/ranks',
    ],
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
    does: 'Zustand stores, the URL codec, preferences, the loading of a snapshot',
    // Of the types the lists of names that a link may hold.
    imports: [
      'core/base',
      'core/replay/types.ts',
      'core/device/main-device.ts',
      'core/device/never-needed.ts',
      'core/raster/types.ts',
      'core/findings',
    ],
    types: ['core', 'engine'],
    packages: ['react', 'zustand'],
  },
  {
    folder: 'ui/theme',
    does: 'colors, fonts and sizes of both themes',
    imports: ['core/base', 'core/raster', 'core/coloring', 'state'],
    types: ['core'],
    packages: ['react', 'd3'],
  },
  ui('shared', 'the ground of ui: services, queries, and small components that any view uses'),
  ui('table', 'the virtual table that all lists are shown in', [], ['@tanstack/react-virtual']),
  ui('recipes', 'how to record a snapshot, by framework'),
  ui('legend', 'the colors of a view: choice and legend'),
  ui('plot', 'a picture over time with axes: zoom, pan, hover, cursors, minimap'),
  ui('cursor', 'the event looked at, the mark beside it and their difference'),
  ui('details', 'the allocation that is selected'),
  ui('search', 'the search box and what it found'),
  ui('oom-message', 'a pasted error message and what it says'),
  ui('report', 'making a report in one file, and reading one'),
  ui('timeline', 'view: every allocation over time', ['legend', 'plot']),
  ui('segments', 'view: segments over time', ['plot']),
  ui(
    'allocator-state',
    'view: segments and blocks at one event',
    ['cursor', 'plot'],
    ['@tanstack/react-virtual'],
  ),
  ui('address-map', 'view: addresses over time', ['allocator-state', 'legend', 'plot', 'segments']),
  ui('flame-graph', 'view: memory by call stack', ['plot', 'table'], ['react-resizable-panels']),
  ui('events', 'view: the events in a table', ['cursor', 'table'], ['react-resizable-panels']),
  ui('allocations', 'view: allocations and call sites in tables', ['search', 'table']),
  ui('memory-summary', 'view: figures, settings and phases of a recording', ['table']),
  {
    ...ui(
      'ranks',
      "a job's ranks beside each other: what each holds, which one is unlike the others",
    ),
    imports: [
      ...UI_GROUND.imports,
      'core/ranks',
      'core/summary-file',
      'engine/ranks/client.ts',
      'engine/ranks/protocol.ts',
    ],
    packages: [...UI_GROUND.packages, '@tanstack/react-virtual'],
  },
  ui('simulator', 'view: what other settings would have done', ['plot']),
  ui('findings', 'side panel: what was found, and what to try', [
    'oom-message',
    'plot',
    'simulator',
  ]),
  ui('export', 'what can be taken away: report, pictures, data', ['report'], ['html-to-image']),
  ui('open', 'the page before a file is open, while it is read, and when it fails', [
    'oom-message',
    'recipes',
  ]),
  {
    ...ui('compare', 'two files: why one needs more memory than the other', [
      'open',
      'allocations',
      'flame-graph',
      'plot',
      'table',
      'timeline',
    ]),
    imports: [
      ...UI_GROUND.imports,
      'core/compare',
      'engine/analysis/client.ts',
      'ui/open',
      'ui/allocations',
      'ui/flame-graph',
      'ui/plot',
      'ui/table',
      'ui/timeline',
    ],
  },
  ui('header', "the page's head: file, device, summary", ['open']),
  ui('help', 'the help dialog', ['recipes']),
  {
    ...ui('shell', 'the roof of ui: the app, its workbench, tabs and panels'),
    imports: [...UI_GROUND.imports, 'engine/analysis/client.ts', 'ui'],
    packages: [...UI_GROUND.packages, 'react-resizable-panels'],
  },
  {
    folder: 'cli',
    does: 'the command line, on Node',
    imports: ['core'],
    packages: ['commander', '@modelcontextprotocol/sdk', 'workerpool', 'zod'],
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

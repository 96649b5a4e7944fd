/**
 * The module that a frame belongs to: the installed package, the standard library, the folder of
 * a file of the user's own, or the outermost namespace of C++.
 *
 *   …/site-packages/torch/nn/modules/linear.py   torch          /site-packages/torch/
 *   /usr/lib/python3.12/threading.py             python         /lib/python3.12/
 *   /home/me/run/train.py                        /home/me/run   /home/me/run/
 *   at::native::mm (no file)                     at             at::
 */
export interface ModuleName {
  readonly name: string;
  /** A text that its frames have in their function or file. */
  readonly text: string;
}

const INSTALLED = /[/\\](?:site|dist)-packages[/\\]([^/\\]+)[/\\]?/;
const STANDARD_LIBRARY = /[/\\]lib(?:64)?[/\\]python\d[\d.]*t?[/\\]|^<frozen /i;
const FOLDER = /^.+[/\\]/;
const NAMESPACE = /^(\w+)::/;

/** @param symbol the function's name without its types, see `qualifiedName` */
export function moduleName(symbol: string, filename: string, isPython: boolean): ModuleName {
  if (!isPython) {
    const namespace = NAMESPACE.exec(symbol);
    if (namespace === null) return { name: 'C and C++', text: symbol };
    return { name: namespace[1], text: namespace[0] };
  }
  const installed = INSTALLED.exec(filename);
  if (installed !== null) return { name: installed[1].replace(/\.py$/, ''), text: installed[0] };
  const library = STANDARD_LIBRARY.exec(filename);
  if (library !== null) return { name: 'python', text: library[0] };
  const folder = FOLDER.exec(filename)?.[0];
  return folder === undefined
    ? { name: filename, text: filename }
    : { name: folder.slice(0, -1), text: folder };
}

import { useId, useState } from 'react';
import { CopyButton, Select } from '../../shared/buttons.tsx';
import { useLazy } from '../../shared/lazy.ts';
import type { Recipe } from './recipes.ts';

/** Later than the page: on the empty page this is below the fold. */
const loadRecipes = () => import('./recipes.ts');
const NONE: readonly Recipe[] = [];

export function RecordRecipes() {
  // Without a network they are missing; the rest of the page works.
  const recipes = useLazy(loadRecipes, true, () => undefined)?.RECIPES ?? NONE;
  const id = useId();
  const [index, setIndex] = useState(0);
  const recipe = recipes[index] ?? recipes[0];
  if (recipe === undefined) return undefined;
  const { name, code, about, triedWith } = recipe;
  return (
    <div className="column">
      <div className="row">
        <label htmlFor={id}>Record</label>
        <Select
          id={id}
          value={index}
          options={recipes.map(({ name }, value) => ({ value, label: name }))}
          onChoose={setIndex}
        />
        <span className="dim">{about}</span>
      </div>
      <CodeToCopy code={code} label={`the code: ${name}`} />
      <p className="dim">
        {triedWith === undefined ? 'Untested. ' : `Tested on an H200 with ${triedWith}. `}
        Recording costs about 1 µs and 400 bytes of host memory per event. <code>max_entries</code>{' '}
        limits the number of events; beyond it, the oldest are dropped. <code>stacks="python"</code>{' '}
        keeps dumps fast: PyTorch’s default, <code>"all"</code>, also looks up every C++ frame (a
        dump of one training run took 461 s with it and 4 s without).
      </p>
    </div>
  );
}

/** @param label names the code for screen readers: 'how to record' */
export function CodeToCopy({ code, label }: Readonly<Record<'code' | 'label', string>>) {
  return (
    <div className="recording">
      <pre>
        <code>{code}</code>
      </pre>
      <CopyButton text={code} label={label} title="Copy the code" className="button">
        Copy
      </CopyButton>
    </div>
  );
}

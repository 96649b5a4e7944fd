import { useEffect, useId, useState } from 'react';
import { CopyButton } from '../../shared/buttons.tsx';
import type { Recipe } from './recipes.ts';

/** How to record a snapshot, ready to copy. The texts load later: on the empty page this is below the fold. */
export function RecordRecipes() {
  const [recipes, setRecipes] = useState<readonly Recipe[]>([]);
  useEffect(() => {
    // Without a network they are missing; the rest of the page works.
    import('./recipes.ts').then(({ RECIPES }) => setRecipes(RECIPES)).catch(() => undefined);
  }, []);
  return <Recipes recipes={recipes} />;
}

function Recipes({ recipes }: { readonly recipes: readonly Recipe[] }) {
  const id = useId();
  const [index, setIndex] = useState(0);
  const recipe = recipes[index] ?? recipes[0];
  if (recipe === undefined) return undefined;
  const { name, code, about, triedWith } = recipe;
  const text = code.trimEnd();
  return (
    <div className="column">
      <div className="row recipe-head">
        <label htmlFor={id}>Record</label>
        <select
          id={id}
          className="field"
          value={index}
          onChange={(event) => setIndex(Number(event.target.value))}
        >
          {recipes.map((choice, i) => (
            <option key={choice.name} value={i}>
              {choice.name}
            </option>
          ))}
        </select>
        <span className="dim">{about}</span>
      </div>
      <div className="recording">
        <pre>
          <code>{text}</code>
        </pre>
        <CopyButton
          text={text}
          label={`the code: ${name}`}
          title="Copy the code"
          className="button"
        >
          Copy
        </CopyButton>
      </div>
      <p className="dim">
        {triedWith === undefined ? 'Untested. ' : `Run on an H200 with ${triedWith}. `}
        Recording costs about 1 µs and 400 bytes of host memory per event. <code>max_entries</code>{' '}
        limits the number of events; beyond it, the oldest are dropped. <code>stacks="python"</code>{' '}
        keeps dumps fast: PyTorch’s default, <code>"all"</code>, also looks up every C++ frame (a
        dump of one training run took 461 s with it and 4 s without).
      </p>
    </div>
  );
}

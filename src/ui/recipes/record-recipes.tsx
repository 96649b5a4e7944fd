import './recipes.css';
import { useId, useState } from 'react';
import { CopyButton } from '../app/copy-button.tsx';
import { RECIPES } from './recipes.ts';

/** How to record a snapshot, to copy. */
export function RecordRecipes() {
  const id = useId();
  const [index, setIndex] = useState(0);
  const recipe = RECIPES[index] ?? RECIPES[0];
  if (recipe === undefined) return undefined;
  const { name, code, about, triedWith } = recipe;
  const text = code.trimEnd();
  return (
    <div className="recipes">
      <div className="recipe-head">
        <label htmlFor={id}>Record</label>
        <select
          id={id}
          className="select"
          value={index}
          onChange={(event) => setIndex(Number(event.target.value))}
        >
          {RECIPES.map((choice, i) => (
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
        {triedWith === undefined
          ? 'Untested: this framework was not at hand. '
          : `Run on an H200 with ${triedWith}. `}
        Recording takes about 1 µs and 400 bytes of host memory an event; <code>max_entries</code>{' '}
        bounds it, and drops the oldest events when it is reached.
      </p>
    </div>
  );
}

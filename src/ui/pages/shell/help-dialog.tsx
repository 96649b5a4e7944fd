import './help.css';
import { RecordRecipes } from '../../panels/recipes/record-recipes.tsx';
import { Dialog } from '../../shared/buttons.tsx';
import { Fact } from '../../shared/facts.tsx';
import markdown from './help.md?raw';

/** '## Title', then lines such as '- **block**: A piece …' or '- `Shift` `Drag`: Zoom …'. */
const [TERMS, ...KEYS] = markdown
  .split(/^## /m)
  .slice(1)
  .map((section) => {
    const [title = '', ...lines] = section.split('\n');
    const entries = lines.flatMap((line) => {
      const [, name, text] = /^- (.+?): (.+)$/.exec(line) ?? [];
      return name === undefined ? [] : [{ names: name.split(/`(?: `)?|\*\*/).slice(1, -1), text }];
    });
    return { title, entries };
  });

export function HelpDialog(props: { readonly isOpen: boolean; readonly onClose: () => void }) {
  return (
    <Dialog title="Help" {...props}>
      <div className="help-columns">
        <section>
          <h3>Reading the timeline</h3>
          <p>
            Every allocation is a band as tall as its block, the oldest at the bottom. The top of
            the stack is the <em>active</em> memory. Each pixel column shows its highest moment, so
            no peak is lost at any zoom; paler parts were lower at some moment within that column.
          </p>
          <p>
            Choose <em>Events</em> to give every allocation the same width, which shows what the
            allocator did. Choose <em>Time</em> to see how long things took. <em>Folded</em> is time
            with idle gaps cut short: use it when startup or waiting fills most of the picture.
          </p>
        </section>
        <section>
          <h3>Terms</h3>
          <dl className="help-terms">
            {TERMS?.entries.map(({ names, text }) => (
              <Fact key={text} term={names.join('')}>
                {text}
              </Fact>
            ))}
          </dl>
        </section>
        {KEYS.map(({ title, entries }) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl className="help-list">
              {entries.map(({ names, text }) => (
                <div key={names.join(' ')}>
                  <dt>
                    {names.map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dt>
                  <dd>{text}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <section className="column ruled">
        <h3>Recording a snapshot</h3>
        <RecordRecipes />
      </section>
    </Dialog>
  );
}

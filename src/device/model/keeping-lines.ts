/**
 * Which statements of a function may keep what one of its lines made, read from its text: the recording shows where a tensor is
 * made, and never who holds it.
 *
 *     106   rating = model.get_rating(users)    made here
 *     112   _, top = torch.topk(rating, k=20)
 *     113   ratings.append(rating)              may keep it
 *
 * Only names are followed, from one assignment to the next, so "may" is all that can be said.
 */
import type { CodeLine, CodeLines } from './source-code.ts';

interface Statement {
  readonly line: number;
  readonly indent: number;
  readonly last: number;
  readonly text: string;
}

/** Nobody reads more. */
const MAX_LINES = 2;
const STORES =
  /^(\w+)[\w.[\]'"]*\.(?:append|appendleft|extend|insert|add|put|put_nowait|push|setdefault|update)\((.*)$/;
const STORES_AT = /^(\w+)[\w.]*\[[^=]*\]\s*=(?!=)(.*)$/;
const ADDS = /^(\w+)[\w.]*\s*\+=(.*)$/;
const ADDS_TO_SELF = /^(\w+)\s*=\s*\1\s*\+(.*)$/;
const ASSIGNS = /^([\w\s,()*]+?)\s*=(?!=)(.*)$/;
/** What follows a name that only its number, its shape or its copy on the CPU is taken of. */
const ONLY_A_COPY =
  '(?!\\w|\\.(?:detach\\(\\)\\.)?(?:item|cpu|tolist|numpy|shape|size|numel|dim|dtype|device|data_ptr)\\b)';

/**
 * @param line of the statement that makes it
 * @param isGraph an autograd graph: a sum keeps it too, and detach() does not
 */
export function keepingLines(
  lines: CodeLines,
  line: number,
  isGraph: boolean,
): readonly CodeLine[] {
  const all = statementsOf(lines, line);
  const own = all.findLast((one) => one.line <= line && one.last >= line);
  if (own === undefined) return [];
  const names = new Set(targetsOf(own.text));
  // What each turn begins anew holds no earlier ones: `total = 0` in the loop.
  const anew = new Set(
    all.flatMap(({ indent, text }) =>
      indent >= own.indent && !ADDS_TO_SELF.test(text) ? targetsOf(text) : [],
    ),
  );
  const found: CodeLine[] = [];
  for (const { line: at, text } of all.slice(all.indexOf(own))) {
    const [, holder = '', ...values] = storeIn(text, isGraph) ?? [];
    const isStored = at === own.line || isIn(values.join(' '), names, isGraph);
    if (holder !== '') {
      if (isStored && !anew.has(holder)) found.push({ line: at, code: text });
    } else if (at !== own.line && isIn(ASSIGNS.exec(text)?.[2] ?? '', names, isGraph)) {
      for (const name of targetsOf(text)) names.add(name);
    }
  }
  return found.slice(0, MAX_LINES);
}

/** The name of what it stores something in, and what. */
const storeIn = (text: string, isGraph: boolean) =>
  STORES.exec(text) ??
  STORES_AT.exec(text) ??
  (isGraph ? (ADDS.exec(text) ?? ADDS_TO_SELF.exec(text)) : null);

/** 'pred, (h, c) = model(x)': pred, h and c. */
const targetsOf = (text: string): string[] => ASSIGNS.exec(text)?.[1].match(/[A-Za-z_]\w*/g) ?? [];

/** `float(loss)`, `loss.mean().item()`: not on the GPU. */
const ON_HOST = /^\s*(?:float|int|len|str)\(|\.(?:item|tolist|numpy|cpu)\(\)[\s)\]}]*$/;

function isIn(text: string, names: ReadonlySet<string>, isGraph: boolean): boolean {
  if (ON_HOST.test(text)) return false;
  const cut = isGraph ? '(?!\\.detach\\b)' : '';
  return [...names].some((name) =>
    new RegExp(`(?<![\\w.'"])${name}${ONLY_A_COPY}${cut}`).test(text),
  );
}

const indentOf = (code: string): number => code.search(/\S/);
const isBlank = (code: string): boolean => /^\s*(#|$)/.test(code);

/** The statements of the function that a line is in; of the whole text outside of functions. */
function statementsOf(lines: CodeLines, line: number): Statement[] {
  if (lines.get(line) === undefined) return [];
  const begin = firstLineOfFunction(lines, line);
  const indent = indentOf(lines.get(begin) ?? '');
  const found: Statement[] = [];
  for (let at = begin; lines.has(at); ) {
    const code = lines.get(at) ?? '';
    if (isBlank(code)) {
      at++;
      continue;
    }
    if (indentOf(code) < indent) break;
    const statement = statementAt(lines, at);
    found.push(statement);
    at = statement.last + 1;
  }
  return found;
}

/** The line after the innermost `def` around a line; the first line of the text outside of functions. */
function firstLineOfFunction(lines: CodeLines, line: number): number {
  let indent = indentOf(lines.get(line) ?? '');
  let first = line;
  for (let at = line; lines.has(at); at--) {
    const code = lines.get(at) ?? '';
    if (isBlank(code)) continue;
    const own = indentOf(code);
    if (own < indent && /^\s*(async\s+)?def\s/.test(code)) return statementAt(lines, at).last + 1;
    indent = Math.min(indent, own);
    first = at;
  }
  return first;
}

/** Up to the line that closes its brackets. */
function statementAt(lines: CodeLines, line: number): Statement {
  const indent = indentOf(lines.get(line) ?? '');
  let text = '';
  let open = 0;
  for (let at = line; ; at++) {
    const code = lines.get(at);
    if (code === undefined) return { line, indent, last: Math.max(line, at - 1), text };
    const own = code.replace(/#[^'"]*$/, '').trim();
    text += text === '' ? own : ` ${own}`;
    open += [...own.replace(/(['"]).*?\1/g, '')].reduce(
      (sum, char) => sum + Number('([{'.includes(char)) - Number(')]}'.includes(char)),
      0,
    );
    if (open <= 0 && !own.endsWith('\\')) return { line, indent, last: at, text };
  }
}

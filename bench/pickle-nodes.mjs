/**
 * A small pickle as a tree of nodes that keeps what CPython's pickler goes by: which objects are the
 * same object. Strings are nodes too, because two equal strings may be one object (a dictionary key)
 * or two (the 'N/A' of each event). Only for the protocol 4 files that the benches start from.
 */

/**
 * @typedef {object} Node
 * @property {'string' | 'int' | 'float' | 'constant' | 'list' | 'dict' | 'tuple'} kind
 * @property {any} value text; number or bigint; the opcode of True, False or None; for 'list' and
 *   'tuple' the nodes in it, for 'dict' keys and values by turns. What is in a list may be made on
 *   the way: whoever writes it needs its `length` and goes over it once
 * @property {number} uses how often it stands in the tree
 * @property {number} memo the number under which a writer has written it, -1 before
 */

/** @returns {Node} */
export const node = (kind, value) => ({ kind, value, uses: 1, memo: -1 });

/**
 * The value of a dictionary's key, undefined when it has none.
 * @param {Node} dict @param {string} key @returns {Node | undefined}
 */
export function field(dict, key) {
  for (let i = 0; i < dict.value.length; i += 2) {
    if (dict.value[i].value === key) return dict.value[i + 1];
  }
  return undefined;
}

/**
 * @param {Buffer} bytes of a protocol 4 pickle
 * @returns {Node}
 * @throws on an opcode that torch's snapshots do not have
 */
export function parsePickle(bytes) {
  const stack = [];
  const marks = [];
  const memo = [];
  const takeFromMark = () => stack.splice(marks.pop());
  const top = () => stack[stack.length - 1];
  const get = (index) => {
    memo[index].uses++;
    stack.push(memo[index]);
  };
  let at = 0;
  const skip = (size) => {
    at += size;
    return at - size;
  };
  const text = (length) => {
    const from = skip(length);
    stack.push(node('string', bytes.toString('utf8', from, at)));
  };
  const number = (value, size) => {
    stack.push(node('int', value));
    at += size;
  };
  while (at < bytes.length) {
    const opcode = String.fromCharCode(bytes[at++]);
    if (opcode === '.') return stack[0];
    else if (opcode === '\x80') at += 1;
    else if (opcode === '\x95') at += 8;
    else if (opcode === '\x94') memo.push(top());
    else if (opcode === 'h') get(bytes[at++]);
    else if (opcode === 'j') get(bytes.readUInt32LE(skip(4)));
    else if (opcode === '(') marks.push(stack.length);
    else if (opcode === '}') stack.push(node('dict', []));
    else if (opcode === ']') stack.push(node('list', []));
    else if (opcode === '\x8c') text(bytes[at++]);
    else if (opcode === 'X') text(bytes.readUInt32LE(skip(4)));
    else if (opcode === 'K') number(bytes[at], 1);
    else if (opcode === 'M') number(bytes.readUInt16LE(at), 2);
    else if (opcode === 'J') number(bytes.readInt32LE(at), 4);
    else if (opcode === '\x8a') number(readLong(bytes, at + 1, bytes[at]), 1 + bytes[at]);
    else if (opcode === 'G') stack.push(node('float', bytes.readDoubleBE(skip(8))));
    else if ('\x88\x89N'.includes(opcode)) stack.push(node('constant', opcode));
    else if (opcode === '\x86') stack.push(node('tuple', stack.splice(-2)));
    else if (opcode === 'a') addTo(stack.splice(-1), top);
    else if (opcode === 's') addTo(stack.splice(-2), top);
    else if (opcode === 'e' || opcode === 'u') addTo(takeFromMark(), top);
    else throw new Error(`Unexpected opcode 0x${bytes[at - 1].toString(16)} at byte ${at - 1}`);
  }
  throw new Error('The pickle has no end');
}

function addTo(items, top) {
  const container = top().value;
  for (const item of items) container.push(item);
}

/** Little-endian two's complement of any size; a bigint only where a number would not be exact. */
function readLong(bytes, from, size) {
  let value = 0n;
  for (let i = size - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[from + i]);
  const signed = BigInt.asIntN(8 * size, value);
  return Number.isSafeInteger(Number(signed)) ? Number(signed) : signed;
}

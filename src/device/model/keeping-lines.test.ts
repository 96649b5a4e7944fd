/** Which statements may keep what a line made, by the text of its function. */
import { expect, test } from 'vitest';
import { keepingLines } from './keeping-lines.ts';
import { codeLines } from './source-code.ts';

const heldIn = (text: string, line: number, isGraph = false) =>
  keepingLines(codeLines([{ line: 1, text }]), line, isGraph).map((one) => one.line);

const TEST = `def test(model, users):
    ratings = []
    total = 0
    for batch in users:
        seen = []
        rating = model.rate(
            batch,  # the users
        )
        rating[0] = -1024
        _, top = torch.topk(rating, k=20)
        ratings.append(rating)
        seen.append(rating)
        numbers.append(rating.mean().item())
        copies.append(rating.detach().cpu())
        loss = criterion(top, labels)
        total += loss
        best['rating of ' + name] = rating
    return ratings

def other(rating):
    ratings.append(rating)
`;

test('of a tensor: containers that outlive the turn, in the same function', () => {
  expect(heldIn(TEST, 6)).toEqual([11, 17]);
  expect(heldIn(TEST, 7)).toEqual([11, 17]);
});

test('of a graph: sums too, through the names that it is assigned to', () => {
  expect(heldIn(TEST, 10, true)).toEqual([16]);
});

test('a sum that is assigned to itself', () => {
  const text = `total = 0\nfor x in data:\n    loss = model(x)\n    total = total + loss\n`;
  expect(heldIn(text, 3, true)).toEqual([4]);
  expect(heldIn(text, 3)).toEqual([]);
});

test('the line itself, outside of functions too', () => {
  expect(heldIn('outputs = []\nfor x in data:\n    outputs.append(model(x))\n', 3)).toEqual([3]);
});

test('none if the name ends there, or the line is unknown', () => {
  expect(heldIn(TEST, 2)).toEqual([]);
  expect(heldIn(TEST, 90)).toEqual([]);
  expect(heldIn('def f(x):\n    return x.matmul(x)\n', 2)).toEqual([]);
});

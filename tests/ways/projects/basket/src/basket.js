import { show } from '#src/money.js';

/** Add items of { price, count } up, in cents. Throws RangeError. */
export function total(items) {
  let sum = 0;
  for (const { price, count = 1 } of items) {
    if (count < 0) throw new RangeError(`a count of ${count}`);
    sum += price * count;
  }
  return sum;
}

/** Write a basket as it is printed. */
export function receipt(items) {
  const lines = items.map(({ name, price, count = 1 }) => `${count} x ${name}: ${show(price * count)}`);
  return [...lines, `total: ${show(total(items))}`].join('\n') + '\n';
}

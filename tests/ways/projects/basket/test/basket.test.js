import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { receipt, total } from '#src/basket.js';

test('prices and counts are added up', () => {
  assert.equal(total([{ price: 250, count: 2 }, { price: 99 }]), 599);
});

test('a negative count is an error', () => {
  assert.throws(() => total([{ price: 250, count: -1 }]), RangeError);
});

test('the receipt is what was ordered', () => {
  const expected = readFileSync(new URL('./receipt.txt', import.meta.url), 'utf8');
  assert.equal(receipt([{ name: 'tea', price: 250, count: 2 }, { name: 'mug', price: 1000 }]), expected);
});

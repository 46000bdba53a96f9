import assert from 'node:assert/strict';
import { test } from 'node:test';

import { show } from 'basket/money';

test('amounts have two places', () => {
  assert.equal(show(5), '0.05 EUR');
  assert.equal(show(1250, 'USD'), '12.50 USD');
});

test('debts have a sign', () => {
  assert.equal(show(-250), '-2.50 EUR');
});

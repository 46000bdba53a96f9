import { expect, test } from 'vitest';
import { parse } from '../src/cell.js';

test('names are read', () => {
  expect(parse('B3')).toEqual({ row: 2, column: 1 });
  expect(parse('AA1')).toEqual({ row: 0, column: 26 });
});

test('what is no name', () => {
  expect(parse('3B')).toBeUndefined();
});

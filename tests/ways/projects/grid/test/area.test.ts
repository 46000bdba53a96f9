import { expect, test } from 'vitest';
import { cells } from '../src/area.js';

test('an area has its rows and columns', () => {
  expect(cells('A1:B3')).toBe(6);
});

test('what is no area', () => {
  expect(() => cells('A1')).toThrow('no area');
});

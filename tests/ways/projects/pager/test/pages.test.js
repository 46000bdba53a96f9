const { pages } = require('../src/pages');

test('a page that is not full is a page', () => {
  expect(pages(21, 10)).toBe(3);
});

test('full pages', () => {
  expect(pages(20, 10)).toBe(2);
});

test('a size of none is an error', () => {
  expect(() => pages(20, 0)).toThrow(RangeError);
});

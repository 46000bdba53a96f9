const { links } = require('../src/links');

test('the present page is marked', () => {
  expect(links(11, 5, 2)).toMatchSnapshot();
});

const assert = require('node:assert');
const { unique } = require('../src/unique');

describe('unique', () => {
  it('numbers what is there', () => assert.deepStrictEqual(unique(['A', 'B', 'a']), ['a', 'b', 'a-2']));
});

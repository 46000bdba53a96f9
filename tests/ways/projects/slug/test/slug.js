const assert = require('node:assert');
const { slug } = require('../src/slug');

describe('slug', () => {
  it('writes small letters', () => assert.strictEqual(slug('Hello'), 'hello'));
  it('joins words', () => assert.strictEqual(slug('To be, or not'), 'to-be-or-not'));
  it('has no dash at its ends', () => assert.strictEqual(slug('(What?)'), 'what'));
});

/** How many pages `count` items take. Throws RangeError. */
function pages(count, size) {
  if (size < 1) throw new RangeError(`a size of ${size}`);
  return Math.ceil(count / size);
}

module.exports = { pages };

const { slug } = require('./slug');

/** Make titles addresses that differ: the second of a kind has -2 at its end. */
function unique(titles) {
  const seen = new Map();
  return titles.map((title) => {
    const name = slug(title);
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name}-${count}`;
  });
}

module.exports = { unique };

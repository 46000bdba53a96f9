const { pages } = require('./pages');

/** The links under a list: each page, the present one marked. */
function links(count, size, present) {
  return Array.from({ length: pages(count, size) }, (_, index) => ({
    page: index + 1,
    present: index + 1 === present,
  }));
}

module.exports = { links };

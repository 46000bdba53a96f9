import { parse } from './cell.js';

/** How many cells an area such as "A1:B3" has. Throws where it is none. */
export function cells(area: string): number {
  const [first, last] = area.split(':').map(parse);
  if (!first || !last) throw new Error(`${area} is no area`);
  return (last.row - first.row + 1) * (last.column - first.column + 1);
}

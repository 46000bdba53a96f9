/** A cell of a sheet, both from 0. */
export interface Cell {
  row: number;
  column: number;
}

/** Read a name such as "B3"; undefined where it is none. */
export function parse(name: string): Cell | undefined {
  const found = /^([A-Z]+)([1-9][0-9]*)$/.exec(name);
  if (!found) return undefined;
  const column = [...found[1]].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
  return { row: Number(found[2]) - 1, column };
}

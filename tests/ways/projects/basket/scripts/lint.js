// No tabs, no blanks at a line's end, no console.log, no var in the product.
import { readdirSync, readFileSync } from 'node:fs';

const RULES = [/\t/, / $/, /console\.log/, /\bvar /];
let found = 0;
for (const name of readdirSync('src').filter((each) => each.endsWith('.js'))) {
  readFileSync(`src/${name}`, 'utf8').split('\n').forEach((line, index) => {
    for (const rule of RULES.filter((each) => each.test(line))) {
      console.error(`src/${name}:${index + 1}: ${rule}`);
      found += 1;
    }
  });
}
process.exitCode = found ? 1 : 0;

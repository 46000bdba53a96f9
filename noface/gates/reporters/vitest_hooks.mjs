// What `module.register` takes, where Node has no `module.registerHooks` yet: see node_preload.cjs.
import { reported } from "./vitest_source.cjs";

export async function load(url, context, next) {
  return reported(url, await next(url, context));
}

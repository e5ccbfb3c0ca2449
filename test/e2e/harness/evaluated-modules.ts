import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Paths as `src/cli/run.ts` or `node_modules/yaml/dist/log.js`. */
export interface BundledModules {
  /** All that the bundle holds, but for those that esbuild has put into others. */
  readonly known: readonly string[];
  /** Of them, those whose code has run. */
  readonly evaluated: readonly string[];
}

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly count: number }[];
    }[];
  }[];
}

/**
 * Which modules of the built agent have run, from what V8 has counted in a process that ended with `NODE_V8_COVERAGE`
 * set to the folder: in the bundle a module is a function of its name, called when it is first asked for.
 */
export function evaluatedModules(coverageFolder: string): BundledModules {
  const functions = readdirSync(coverageFolder)
    .map((file) => JSON.parse(readFileSync(join(coverageFolder, file), 'utf8')) as Coverage)
    .flatMap(({ result }) => result)
    .filter(({ url }) => url.endsWith('/dist/rxlet.js'))
    .flatMap((script) => script.functions)
    .filter(({ functionName }) => /^(src|node_modules)\//.test(functionName));
  return {
    known: functions.map(({ functionName }) => functionName),
    evaluated: functions.filter(({ ranges: [whole] }) => (whole?.count ?? 0) > 0).map((each) => each.functionName),
  };
}

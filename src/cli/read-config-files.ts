import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { defer, map, of, type Observable } from 'rxjs';
import type { ConfigLayer, ConfigProblem } from '../model/config/config-layer.ts';
import { messageOf } from '../model/errors.ts';
import { isRecord } from '../model/schema/check-shape.ts';
import { formatFieldPath } from '../model/schema/field-path.ts';
import { readYaml } from '../sources/yaml/read-yaml.ts';

export interface ConfigFiles {
  /** `--config` first, then the drop-ins in the order in which they count. */
  readonly layers: readonly ConfigLayer[];
  /** Files that cannot be read, or hold no single document. */
  readonly problems: readonly ConfigProblem[];
  /** Files below `--config-dir` that are no drop-ins because of their names. */
  readonly skipped: readonly string[];
}

/**
 * Emits what `--config` and `--config-dir` hold, once, then completes. Never errors: a file that cannot be read is one
 * of the problems. Drop-ins are the `*.conf` files anywhere below the folder, in the order of their paths; they are read
 * after `--config` (facts sheet 1.2).
 */
export function readConfigFiles(config: string | undefined, configDir: string | undefined): Observable<ConfigFiles> {
  return defer(() => {
    const found = configDir === undefined ? { files: [], problems: [] } : walk(resolve(configDir));
    const dropIns = found.files.filter((file) => file.endsWith('.conf'));
    const files = [...(config === undefined ? [] : [resolve(config)]), ...dropIns];
    return of({ readings: files.map(readFile), found });
  }).pipe(
    map(({ readings, found }) => ({
      layers: readings.flatMap(({ layer }) => (layer ? [layer] : [])),
      problems: [...found.problems, ...readings.flatMap(({ problems }) => problems)],
      skipped: found.files.filter((file) => !file.endsWith('.conf')),
    })),
  );
}

interface Walk {
  readonly files: readonly string[];
  readonly problems: readonly ConfigProblem[];
}

/** Files below a folder, each folder's entries by name; links count as what they lead to. */
function walk(folder: string): Walk {
  try {
    const parts = readdirSync(folder)
      .sort()
      .map((name) => join(folder, name))
      .map((path) => (statSync(path).isDirectory() ? walk(path) : { files: [path], problems: [] }));
    return { files: parts.flatMap(({ files }) => files), problems: parts.flatMap(({ problems }) => problems) };
  } catch (error) {
    return { files: [], problems: [{ origin: folder, message: `cannot be read: ${messageOf(error)}` }] };
  }
}

interface Reading {
  readonly layer?: ConfigLayer;
  readonly problems: readonly ConfigProblem[];
}

function readFile(file: string): Reading {
  try {
    return readText(file, readFileSync(file, 'utf8'));
  } catch (error) {
    return { problems: [{ origin: file, message: `cannot be read: ${messageOf(error)}` }] };
  }
}

function readText(origin: string, text: string): Reading {
  const { documents, problems } = readYaml(text);
  if (problems.length) {
    return {
      problems: problems.map(({ position, path, message }) => ({
        origin,
        position,
        message,
        ...(path ? { field: formatFieldPath(path) } : {}),
      })),
    };
  }
  const [document, second] = documents;
  if (second)
    return { problems: [{ origin, position: second.position, message: 'must hold one document, not several' }] };

  const value = inFolder(dirname(origin), document?.value ?? {});
  const locate = document?.locate ?? (() => ({ line: 1, column: 1 }));
  return { layer: { kind: 'file', origin, value, locate }, problems: [] };
}

/** Paths in a file are meant from the file's own folder, as the kubelet reads them. */
function inFolder(folder: string, value: unknown): unknown {
  if (!isRecord(value)) return value;
  const paths = PATH_FIELDS.flatMap((field) => {
    const path = value[field];
    return typeof path === 'string' && path !== '' ? [[field, resolve(folder, path)] as const] : [];
  });
  const { authentication } = value;
  const x509 = isRecord(authentication) ? authentication['x509'] : undefined;
  const clientCa = isRecord(x509) ? x509['clientCAFile'] : undefined;
  return {
    ...value,
    ...Object.fromEntries(paths),
    ...(isRecord(authentication) && isRecord(x509) && typeof clientCa === 'string' && clientCa !== ''
      ? { authentication: { ...authentication, x509: { ...x509, clientCAFile: resolve(folder, clientCa) } } }
      : {}),
  };
}

const PATH_FIELDS = ['staticPodPath', 'podLogsDir', 'resolvConf', 'tlsCertFile', 'tlsPrivateKeyFile'] as const;

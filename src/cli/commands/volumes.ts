import { catchError, concat, concatMap, forkJoin, from, map, of, throwError, toArray, type Observable } from 'rxjs';
import { nodeFiles } from '../../host/files/node-files.ts';
import { diskUsage } from '../../host/volumes/disk-usage.ts';
import { isMountedSomewhere } from '../../host/volumes/is-mounted-somewhere.ts';
import { claimDir } from '../../model/volumes/volume-dir.ts';
import type { PlanGround } from '../../streams/view/plan-ground.ts';
import { CliError } from '../cli-error.ts';
import type { VolumesOptions } from '../command.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { askAgent } from './ask-agent.ts';

/** A folder of a claim that is there. */
interface Kept {
  readonly namespace: string;
  readonly claim: string;
  readonly dir: string;
}

/**
 * `rxlet volumes ls` and `rxlet volumes rm`: the folders of claims. Asks the agent that runs who uses them; where none
 * runs, what the processes of the machine have mounted. Emits text for standard output and completes; errors with a
 * {@link CliError} where one that is to be removed is not there or in use: then nothing is removed.
 */
export function volumes({ verb, names, socket, rootDir }: VolumesOptions): Observable<string> {
  return askAgent<PlanGround>(socket, '/rxlet/plan-ground').pipe(
    catchError((error: unknown) => {
      if (error instanceof CliError && error.exitCode === EXIT_CODES.noAgent) return of(undefined);
      return throwError(() => error);
    }),
    concatMap((ground) => {
      const root = ground?.rootDir ?? rootDir;
      return keptBelow(root).pipe(
        concatMap((kept) => (verb === 'ls' ? list(kept, ground) : remove(kept, names, ground))),
      );
    }),
  );
}

function keptBelow(rootDir: string): Observable<readonly Kept[]> {
  const files = nodeFiles();
  return files.list(`${rootDir}/volumes`).pipe(
    concatMap((namespaces) => from(namespaces)),
    concatMap((namespace) =>
      files
        .list(`${rootDir}/volumes/${namespace}`)
        .pipe(
          concatMap((claims) =>
            claims.map((claim): Kept => ({ namespace, claim, dir: claimDir({ rootDir }, namespace, claim) })),
          ),
        ),
    ),
    toArray(),
  );
}

function list(kept: readonly Kept[], ground: PlanGround | undefined): Observable<string> {
  if (kept.length === 0) return of('No volumes.\n');
  return from(kept).pipe(
    concatMap((one) =>
      forkJoin([from(diskUsage(one.dir, new AbortController().signal)), usedBy(one, ground)]).pipe(
        map(([bytes, users]) => [one.namespace, one.claim, sizeText(bytes), users.join(', ') || '-'] as const),
      ),
    ),
    toArray(),
    map((rows) => tableOf([['NAMESPACE', 'CLAIM', 'SIZE', 'USED BY'], ...rows])),
  );
}

function remove(kept: readonly Kept[], names: readonly string[], ground: PlanGround | undefined): Observable<string> {
  const asked = names.map((name) => {
    const [claim = '', namespace = 'default'] = name.split('/').reverse();
    const found = kept.find((one) => one.claim === claim && one.namespace === namespace);
    if (!found)
      throw new CliError(EXIT_CODES.usage, `there is no volume ${namespace}/${claim}`, 'See: rxlet volumes ls');
    return found;
  });
  return from(asked).pipe(
    concatMap((one) => usedBy(one, ground).pipe(map((users) => ({ one, users })))),
    toArray(),
    concatMap((all) => {
      const busy = all.find(({ users }) => users.length > 0);
      if (busy) {
        const { namespace, claim } = busy.one;
        const why = `the volume ${namespace}/${claim} is in use by ${busy.users.join(', ')}`;
        return throwError(() => new CliError(EXIT_CODES.findings, why, 'Take the manifest of its pod away first.'));
      }
      return concat(
        ...all.map(({ one: { namespace, claim, dir } }) =>
          nodeFiles()
            .removeTree(dir)
            .pipe(map(() => `${namespace}/${claim} removed\n`)),
        ),
      );
    }),
  );
}

/** Names of the pods that have it, as far as can be told. */
function usedBy({ namespace, claim }: Kept, ground: PlanGround | undefined): Observable<readonly string[]> {
  if (!ground)
    return isMountedSomewhere(`/volumes/${namespace}/${claim}`).pipe(map((is) => (is ? ['a running container'] : [])));
  const pods = ground.entries.flatMap(({ pod }) => pod ?? []);
  const users = pods.filter(
    ({ metadata, spec }) =>
      metadata.namespace === namespace &&
      spec.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === claim),
  );
  return of([...new Set(users.map(({ metadata }) => metadata.name))]);
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

function sizeText(bytes: number): string {
  const step = bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${Math.round(bytes / 1024 ** step)} ${UNITS[step] ?? ''}`;
}

function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_head, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return rows.map((row) => `${line(row)}\n`).join('');
}

import { concat, defer, filter, first, map, of, catchError, type Observable } from 'rxjs';
import type { AuthConfig } from '../../model/cri/api.ts';
import { findAuths, readDockerConfig, type DockerAuths } from '../../model/credentials/docker-config.ts';
import { messageOf } from '../../model/errors.ts';
import type { Credentials } from '../../streams/ports/credentials.ts';
import type { Files } from '../../streams/ports/files.ts';

export interface Places {
  readonly rootDir: string;
  readonly workingDir: string;
  /** Folder of the user as whom the agent runs; absent where it has none. */
  readonly home: string | undefined;
}

/**
 * Credentials of docker's files in the places where the kubelet looks (facts sheet 16): the first `config.json`, else the
 * first `.dockercfg`. Read anew for every pull, so that an edited file counts at once.
 */
export function dockerCredentials(
  places: Places,
  { readFile }: Pick<Files, 'readFile'>,
  tell: (problem: string) => void,
): Credentials {
  function read(path: string): Observable<DockerAuths | undefined> {
    return defer(() => readFile(path)).pipe(
      map((text) => (text === undefined ? undefined : readDockerConfig(text))),
      catchError((error: unknown) => {
        tell(`${path}: ${messageOf(error)}`);
        return of(undefined);
      }),
    );
  }

  return {
    lookUp: (image) =>
      concat(...pathsIn(places).map(read)).pipe(
        filter((auths) => auths !== undefined),
        first(() => true, NONE),
        map((auths): readonly AuthConfig[] => findAuths(auths, image)),
      ),
  };
}

const NONE: DockerAuths = new Map();

function pathsIn({ rootDir, workingDir, home }: Places): readonly string[] {
  const folders = (inHome: string, atRoot: string): readonly string[] => [
    rootDir,
    workingDir,
    ...(home === undefined ? [] : [`${home}${inHome}`]),
    atRoot,
  ];
  const paths = [
    ...folders('/.docker', '/.docker').map((folder) => `${folder}/config.json`),
    ...folders('', '').map((folder) => `${folder}/.dockercfg`),
  ];
  return [...new Set(paths.map((path) => path.replace(/\/+/g, '/')))];
}

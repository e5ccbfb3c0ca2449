import { forkJoin, map, of, type Observable } from 'rxjs';
import { askProvider } from '../host/credentials/ask-provider.ts';
import { dockerCredentials } from '../host/credentials/docker-credentials.ts';
import { providerCredentials } from '../host/credentials/provider-credentials.ts';
import { readProviderConfig, type CredentialProvider } from '../model/credentials/provider-config.ts';
import type { CredentialProviders, RunConfig } from '../model/config/run-config.ts';
import { messageOf } from '../model/errors.ts';
import { readYaml } from '../sources/yaml/read-yaml.ts';
import type { Credentials } from '../streams/ports/credentials.ts';
import type { Files } from '../streams/ports/files.ts';
import { CliError } from './cli-error.ts';
import { EXIT_CODES } from './exit-codes.ts';

/**
 * Everything that is known of registries: docker's files first, then the programs. Emits once; errors with a
 * {@link CliError} where the configuration of the programs cannot be read.
 */
export function registryCredentials(
  { rootDir, credentialProviders }: Pick<RunConfig, 'rootDir' | 'credentialProviders'>,
  files: Files,
  tell: (problem: string) => void,
): Observable<Credentials> {
  const places = { rootDir, workingDir: process.cwd(), home: process.env['HOME'] };
  const docker = dockerCredentials(places, files, tell);
  if (!credentialProviders) return of(docker);
  const { binDir } = credentialProviders;
  return readProviders(credentialProviders, files).pipe(
    map((providers) => {
      const programs = providerCredentials(providers, (provider, image) => askProvider(provider, binDir, image), tell);
      return {
        lookUp: (image) => forkJoin([docker.lookUp(image), programs.lookUp(image)]).pipe(map((found) => found.flat())),
      };
    }),
  );
}

function readProviders({ config }: CredentialProviders, files: Files): Observable<readonly CredentialProvider[]> {
  return files.readFile(config).pipe(
    map((text) => {
      try {
        if (text === undefined) throw new Error('there is no such file');
        return readProviderConfig(readYaml(text).documents[0]?.value);
      } catch (error: unknown) {
        throw new CliError(EXIT_CODES.usage, `${config}: ${messageOf(error)}`);
      }
    }),
  );
}

import { parseDuration } from '../config/parse-duration.ts';
import { isRecord } from '../schema/check-shape.ts';

/** A program that knows the credentials of some registries. */
export interface CredentialProvider {
  readonly name: string;
  readonly apiVersion: string;
  readonly matchImages: readonly string[];
  /** Milliseconds that an answer holds which says nothing about it; 0: not at all. */
  readonly defaultCacheDuration: number;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const VERSION = /^kubelet\.config\.k8s\.io\/(?:v1|v1beta1|v1alpha1)$/;
const PROVIDER_VERSION = /^credentialprovider\.kubelet\.k8s\.io\/(?:v1|v1beta1|v1alpha1)$/;

/** Reads a `CredentialProviderConfig`. Throws with a sentence that names the field where it is none. */
export function readProviderConfig(document: unknown): readonly CredentialProvider[] {
  if (!isRecord(document) || document['kind'] !== 'CredentialProviderConfig' || !isVersion(document['apiVersion']))
    throw new Error('it must be a CredentialProviderConfig of kubelet.config.k8s.io/v1');
  const { providers } = document;
  if (!Array.isArray(providers) || providers.length === 0) throw new Error('providers: at least one is needed');
  const read = providers.map(providerOf);
  const names = read.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new Error(`providers: ${twice} stands there twice`);
  return read;
}

function isVersion(version: unknown): boolean {
  return typeof version === 'string' && VERSION.test(version);
}

function providerOf(entry: unknown, index: number): CredentialProvider {
  const at = `providers[${index}]`;
  if (!isRecord(entry)) throw new Error(`${at}: it must be an object`);
  const { name, apiVersion, matchImages, defaultCacheDuration, args = [], env = [] } = entry;
  if (typeof name !== 'string' || !/^[^/\s]+$/.test(name) || name === '.' || name === '..')
    throw new Error(`${at}.name: it must be the name of a program in the folder of programs`);
  if (typeof apiVersion !== 'string' || !PROVIDER_VERSION.test(apiVersion))
    throw new Error(`${at}.apiVersion: it must be credentialprovider.kubelet.k8s.io/v1`);
  if (!isTexts(matchImages) || matchImages.length === 0)
    throw new Error(`${at}.matchImages: at least one pattern is needed`);
  const lasts = typeof defaultCacheDuration === 'string' ? parseDuration(defaultCacheDuration) : undefined;
  if (lasts === undefined || lasts < 0) throw new Error(`${at}.defaultCacheDuration: it must be a time, as 12h`);
  if (entry['tokenAttributes'] !== undefined)
    throw new Error(`${at}.tokenAttributes: tokens of service accounts need an API server`);
  if (!isTexts(args)) throw new Error(`${at}.args: it must hold texts`);
  return { name, apiVersion, matchImages, defaultCacheDuration: lasts, args, env: envOf(env, `${at}.env`) };
}

function envOf(env: unknown, at: string): Readonly<Record<string, string>> {
  if (!Array.isArray(env)) throw new Error(`${at}: it must be a list`);
  return Object.fromEntries(
    env.map((entry: unknown) => {
      if (!isRecord(entry) || typeof entry['name'] !== 'string') throw new Error(`${at}: each needs a name`);
      return [entry['name'], typeof entry['value'] === 'string' ? entry['value'] : ''];
    }),
  );
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

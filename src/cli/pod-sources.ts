import { defer, switchMap, type Observable } from 'rxjs';
import type { RunConfig } from '../model/config/run-config.ts';
import { fnv128 } from '../model/manifest/fnv128.ts';
import { manifestUrls, parseManifestUrl, type ManifestUrl } from '../model/manifest/manifest-url.ts';
import type { PodSights } from '../model/workloads/pod-sight.ts';
import { expandDesired } from '../sources/expand-desired.ts';
import { fileSource } from '../sources/file/file-source.ts';
import type { PodSource } from '../sources/merge-sources.ts';
import type { Files } from '../streams/ports/files.ts';
import { manifestMemory } from './manifest-memory.ts';
import { workloadMemory } from './workload-memory.ts';

/**
 * Where the configuration says that pods come from: a folder, and any number of URLs, each a source of its own. `sights$`
 * tells how the pods of workloads are.
 */
export function podSources(run: RunConfig, sights$: Observable<PodSights>, files: Files): readonly PodSource[] {
  const { config, nodeName, rootDir } = run;
  const { staticPodPath: path, staticPodURL, fileCheckFrequency } = config;
  const store = manifestMemory(`${rootDir}/manifests.json`, files);
  const kept = workloadMemory(`${rootDir}/workloads.json`, files);
  const manifest$ = fileSource({ path, nodeName, fileCheckFrequency }, store);
  const urls = manifestUrls(staticPodURL).flatMap((text) => parseManifestUrl(text) ?? []);
  return [
    ...(path === '' ? [] : [{ name: 'file' as const, desired$: expandDesired(manifest$, sights$, kept) }]),
    ...new Map(urls.map((url) => [url.shown, urlSource(url, run, sights$, files)])).values(),
  ];
}

/** Its code is loaded only where there is a URL. */
function urlSource(
  url: ManifestUrl,
  { config, nodeName, rootDir, manifestUrlTls: tls }: RunConfig,
  sights$: Observable<PodSights>,
  files: Files,
): PodSource {
  const { staticPodURLHeader: headers, httpCheckFrequency } = config;
  const place = `${rootDir}/url-manifests/${fnv128(url.shown)}`;
  const store = manifestMemory(`${place}.json`, files);
  const manifest$ = defer(() => import('../sources/http/http-source.ts')).pipe(
    switchMap(({ httpSource }) => httpSource({ url, headers, tls, nodeName, httpCheckFrequency }, store)),
  );
  return {
    name: 'http',
    place: url.shown,
    desired$: expandDesired(manifest$, sights$, workloadMemory(`${place}-workloads.json`, files)),
  };
}

/** A URL of manifests, with what must not be shown kept apart. */
export interface ManifestUrl {
  /** Without user and password: what problems, logs and UIDs name. */
  readonly shown: string;
  /** What the user and the password in the URL say in a header. */
  readonly authorization?: string;
}

/** The URLs in `staticPodURL`: as no URL holds blanks, there may be several. Each one once. */
export function manifestUrls(field: string): readonly string[] {
  return [...new Set(field.split(/\s+/).filter((text) => text !== ''))];
}

/** Takes a URL apart; `undefined` where it is none of http or https. */
export function parseManifestUrl(text: string): ManifestUrl | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const { username, password } = url;
  url.username = '';
  url.password = '';
  url.hash = '';
  if (username === '' && password === '') return { shown: url.href };
  const pair = new TextEncoder().encode(`${decoded(username)}:${decoded(password)}`);
  return { shown: url.href, authorization: `Basic ${btoa(String.fromCodePoint(...pair))}` };
}

/** A sign of percent that begins no code stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** `Always` for an image named without a tag or with `latest`, else `IfNotPresent` (a digest pins the image). */
export function defaultPullPolicy(image: string): 'Always' | 'IfNotPresent' {
  const { name, tag, digest } = IMAGE.exec(image)?.groups ?? {};
  if (name === undefined) return 'IfNotPresent';
  return tag === 'latest' || (tag === undefined && digest === undefined) ? 'Always' : 'IfNotPresent';
}

/** Host, path, tag and digest of an image reference, with the syntax that the distribution project gives them. */
const IMAGE =
  /^(?<name>(?:(?:localhost|[\w-]+(?:\.[\w-]+)+|[\w-]+(?=:\d+\/)|\[[\da-fA-F:]+\])(?::\d+)?\/)?[a-z\d]+(?:[._-]+[a-z\d]+)*(?:\/[a-z\d]+(?:[._-]+[a-z\d]+)*)*)(?::(?<tag>\w[\w.-]{0,127}))?(?:@(?<digest>[A-Za-z][\w+.-]*:[\da-fA-F]{32,}))?$/;

/**
 * What is wrong with the name of an image, in the words that Kubernetes' users know; `undefined` for a good one
 * (the grammar of registry references: domain, path, tag, digest).
 */
export function imageNameProblem(image: string): string | undefined {
  if (/^[a-f0-9]{64}$/.test(image))
    return `invalid repository name (${image}), cannot specify 64-byte hexadecimal strings`;
  const slash = image.indexOf('/');
  const first = slash < 0 ? '' : image.slice(0, slash);
  const hasDomain = /[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase();
  const rest = hasDomain ? image.slice(slash + 1) : image;
  const [path = ''] = /^[^:@]*/.exec(rest) ?? [];
  if (path !== path.toLowerCase()) return `${INVALID}: repository name (${path}) must be lowercase`;
  if (image === '') return 'repository name must have at least one component';
  if ((hasDomain && !DOMAIN.test(first)) || !REMAINDER.test(rest)) return INVALID;
  return path.length > LONGEST ? `repository name must not be more than ${LONGEST} characters` : undefined;
}

const INVALID = 'invalid reference format';
const LONGEST = 255;
const LABEL = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const DOMAIN = new RegExp(`^(?:${LABEL}(?:\\.${LABEL})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?$`);
const COMPONENT = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const REMAINDER = new RegExp(
  `^${COMPONENT}(?:/${COMPONENT})*(?::[\\w][\\w.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`,
);

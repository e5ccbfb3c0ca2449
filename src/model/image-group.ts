import { isRecord } from './schema/check-shape.ts';

/**
 * The group in the `USER user:group` of an image, from what `ImageStatus` tells when it is asked to be verbose; CRI has
 * no field for it. `undefined` where the image names none or the runtime does not tell.
 */
export function imageGroup(info: Readonly<Record<string, string>> | undefined): string | undefined {
  const spec = inside(parsed(info?.['info']), 'imageSpec');
  const user = inside(inside(spec, 'config'), 'User');
  const group = typeof user === 'string' ? user.split(':')[1] : undefined;
  return group === '' ? undefined : group;
}

function inside(value: unknown, field: string): unknown {
  return isRecord(value) ? value[field] : undefined;
}

/** What a runtime puts there is its own affair, so it may be anything. */
function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

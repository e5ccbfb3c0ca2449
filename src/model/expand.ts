/**
 * Replaces `$(NAME)` by the value of the variable; `$$` is a plain `$`, and what names nothing stays as it is
 * (facts sheet 13, the kubelet's expansion rules).
 */
export function expand(text: string, variables: Pick<ReadonlyMap<string, string>, 'get'>): string {
  let out = '';
  let at = 0;
  while (at < text.length) {
    const dollar = text.indexOf('$', at);
    if (dollar < 0 || dollar === text.length - 1) return out + text.slice(at);
    out += text.slice(at, dollar);
    const next = text.charAt(dollar + 1);
    const end = next === '(' ? text.indexOf(')', dollar + 2) : -1;
    if (next === '$') {
      out += '$';
      at = dollar + 2;
    } else if (end >= 0) {
      const name = text.slice(dollar + 2, end);
      out += variables.get(name) ?? `$(${name})`;
      at = end + 1;
    } else {
      // An operator that is not one, or one that never closes, is text.
      out += next === '(' ? '$(' : `$${next}`;
      at = dollar + 2;
    }
  }
  return out;
}

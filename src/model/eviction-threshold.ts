import { parseQuantity, wholeValue } from './quantity.ts';

/** What is to be left of a resource by a threshold of `evictionHard`, `100Mi` or `10%`; 0 where there is none: `0%` and `100%` are none either. */
export function evictionThreshold(text: string | undefined, all: number): number {
  if (text === undefined) return 0;
  const percent = percentIn(text);
  if (percent !== undefined) return percent >= 100 ? 0 : Math.floor((all * percent) / 100);
  const quantity = parseQuantity(text);
  return quantity ? wholeValue(quantity) : 0;
}

export function isEvictionThreshold(text: string): boolean {
  const percent = percentIn(text);
  const quantity = parseQuantity(text);
  return percent === undefined ? quantity !== undefined && quantity.nano >= 0n : percent <= 100;
}

function percentIn(text: string): number | undefined {
  return /^\d+(?:\.\d+)?%$/.test(text) ? Number(text.slice(0, -1)) : undefined;
}

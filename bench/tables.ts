import { median } from './clock.ts';
import { MEASURES, type Measure } from './measures.ts';
import { FLOOR, PARTS, type Part, type RuntimeResult, type Sample } from './sample.ts';

export interface Table {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** One table per runtime, part and number of pods: a row per measure, a column per agent, beside each its share of the floor. */
export function tablesOf({ runtime, version, samples }: RuntimeResult): readonly Table[] {
  const agents = [...new Set(samples.map(({ agent }) => agent))].filter((agent) => agent !== FLOOR);
  return PARTS.flatMap((part) =>
    [...new Set(samples.filter((sample) => sample.part === part).map(({ pods }) => pods))].map((pods) => {
      const these = samples.filter((sample) => sample.part === part && sample.pods === pods);
      const repetitions = Math.max(...agents.map((agent) => these.filter((sample) => sample.agent === agent).length));
      const title = `${version}: ${TITLES[part](pods)} (median of ${repetitions})`;
      return tableOf({ title, part, pods, runtime, agents, samples: these });
    }),
  );
}

const TITLES: Readonly<Record<Part, (pods: number) => string>> = {
  story: (pods) => `the story of N = ${pods}`,
  start: () => 'start-up with one manifest',
  idle: (pods) => `idle with ${pods} pods`,
  load: (pods) => `${pods} pods with two probes each a second, then requests as well`,
};

interface TableConfig {
  readonly title: string;
  readonly part: Part;
  readonly pods: number;
  readonly runtime: string;
  readonly agents: readonly string[];
  readonly samples: readonly Sample[];
}

function tableOf({ title, part, pods, runtime, agents, samples }: TableConfig): Table {
  const hasFloor = samples.some(({ agent }) => agent === FLOOR);
  const medianOf = (agent: string, key: string): number | undefined =>
    median(
      samples.flatMap(({ agent: whose, values }) => {
        const value = whose === agent ? values[key] : undefined;
        return value === undefined ? [] : [value];
      }),
    );
  const rows = MEASURES[part].map((measure) => {
    const floor = medianOf(FLOOR, measure.floor ?? measure.key);
    const own = medianOf(FLOOR, measure.key);
    return [
      measure.title,
      ...(hasFloor ? [shown(own, measure)] : []),
      ...agents.flatMap((agent) => {
        const value = medianOf(agent, measure.key);
        return hasFloor ? [shown(value, measure), ratio(value, floor)] : [shown(value, measure)];
      }),
      ...(hasFloor ? [measure.goal?.(pods, runtime) ?? ''] : []),
    ];
  });
  const head = hasFloor ? ['', FLOOR, ...agents.flatMap((agent) => [agent, '/ floor']), 'goal'] : ['', ...agents];
  return { title, head, rows };
}

function shown(value: number | undefined, { unit }: Measure): string {
  if (value === undefined) return '–';
  const digits = unit === '' ? 0 : unit === 's' || unit === '%' ? 2 : unit === 'ms' && value >= 100 ? 0 : 1;
  return `${value.toFixed(digits)}${unit.startsWith('/') ? '' : ' '}${unit}`.trim();
}

function ratio(value: number | undefined, floor: number | undefined): string {
  return value === undefined || floor === undefined || floor === 0 ? '' : (value / floor).toFixed(2);
}

import type { Terminal } from '../terminal.ts';
import { LOOKS, painter } from './paint.ts';

/** What of the kubelet's stats/v1alpha1 Summary is shown. */
export interface StatsSummary {
  readonly node?: { readonly nodeName: string } & Usage;
  readonly pods?: readonly PodStats[];
}

interface Usage {
  readonly cpu?: { readonly usageNanoCores?: number };
  readonly memory?: { readonly workingSetBytes?: number };
}

interface PodStats extends Usage {
  readonly podRef: { readonly name: string; readonly namespace: string };
  readonly containers?: readonly ({ readonly name: string } & Usage)[];
}

/** The hungriest pod first, each with its containers; below 80 columns long names are cut. */
export function renderTop({ node, pods = [] }: StatsSummary, terminal: Terminal): readonly string[] {
  const rows = [...(node ? [rowOf(node.nodeName, '', node)] : []), ...pods.toSorted(byHunger).flatMap(podRows)];
  if (rows.length === 0) return ['No pods.'];
  const head: Row = ['POD', 'CONTAINER', 'CPU', 'MEMORY'];
  const room = Math.max(20, terminal.columns - NUMBERS - 4);
  const container = widest(rows, 1, head, Math.floor(room / 2));
  const pod = widest(rows, 0, head, room - container);
  const line = ([name, its, cpu, memory]: Row): string =>
    `${fit(name, pod)}  ${fit(its, container)}  ${cpu.padStart(CPU)}  ${memory.padStart(MEMORY)}`;
  return [painter(terminal)(LOOKS.bold, line(head)), ...rows.map(line)];
}

type Row = readonly [pod: string, container: string, cpu: string, memory: string];

const CPU = 7;
const MEMORY = 8;
const NUMBERS = CPU + MEMORY + 2;

function byHunger(a: PodStats, b: PodStats): number {
  return (b.cpu?.usageNanoCores ?? 0) - (a.cpu?.usageNanoCores ?? 0) || (a.podRef.name < b.podRef.name ? -1 : 1);
}

function podRows(stats: PodStats): readonly Row[] {
  const { podRef, containers = [] } = stats;
  const name = podRef.namespace === 'default' ? podRef.name : `${podRef.namespace}/${podRef.name}`;
  return [rowOf(name, '', stats), ...containers.map((one) => rowOf('', one.name, one))];
}

function rowOf(pod: string, container: string, { cpu, memory }: Usage): Row {
  return [pod, container, milliCores(cpu?.usageNanoCores), mebibytes(memory?.workingSetBytes)];
}

/** As `kubectl top`: thousandths of a core; what is not known yet is `-`. */
function milliCores(nanoCores: number | undefined): string {
  return nanoCores === undefined ? '-' : `${Math.round(nanoCores / 1e6)}m`;
}

function mebibytes(bytes: number | undefined): string {
  return bytes === undefined ? '-' : `${Math.round(bytes / 2 ** 20)}Mi`;
}

function widest(rows: readonly Row[], index: 0 | 1, head: Row, most: number): number {
  return Math.min(most, Math.max(head[index].length, ...rows.map((row) => row[index].length)));
}

function fit(text: string, width: number): string {
  return (text.length > width ? `${text.slice(0, width - 1)}…` : text).padEnd(width);
}

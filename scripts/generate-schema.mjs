#!/usr/bin/env node
// Writes src/model/schema/pod-schema.ts from the types of @kubernetes/client-node (needed here only, not at run time),
// and what Kubernetes 1.36 has beyond them. `--print` writes to standard output instead.
import * as models from '@kubernetes/client-node/dist/gen/models/all.js';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

const TARGET = fileURLToPath(new URL('../src/model/schema/pod-schema.ts', import.meta.url));
const ROOTS = [
  ...['V1Pod', 'V1PodList', 'V1ConfigMap', 'V1Secret', 'V1PersistentVolumeClaim'],
  ...['V1Deployment', 'V1DaemonSet', 'V1Job'],
];

/** The client's types say `string` for quantities. */
const QUANTITIES = {
  'ResourceRequirements.limits': 'Map<Quantity>',
  'ResourceRequirements.requests': 'Map<Quantity>',
  'VolumeResourceRequirements.limits': 'Map<Quantity>',
  'VolumeResourceRequirements.requests': 'Map<Quantity>',
  'PersistentVolumeClaimStatus.allocatedResources': 'Map<Quantity>',
  'PersistentVolumeClaimStatus.capacity': 'Map<Quantity>',
  'PodSpec.overhead': 'Map<Quantity>',
  'EmptyDirVolumeSource.sizeLimit': 'Quantity',
  'ResourceFieldSelector.divisor': 'Quantity',
  'ContainerStatus.allocatedResources': 'Map<Quantity>',
  'PodStatus.allocatedResources': 'Map<Quantity>',
};

/** Fields of 1.35 and 1.36 that the client (made from 1.34) does not know. */
const NEWER = {
  PodSpec: { schedulingGroup: 'PodSchedulingGroup' },
  PodSchedulingGroup: { podGroupName: 'string' },
  PodStatus: {
    allocatedResources: 'Map<Quantity>',
    resources: 'ResourceRequirements',
    nodeAllocatableResourceClaimStatuses: 'Array<any>',
  },
  ListMeta: { shardInfo: 'any' },
  PodCertificateProjection: { userAnnotations: 'Map<string>' },
};

const schema = {};
const waiting = [...ROOTS];
for (let model = waiting.pop(); model; model = waiting.pop()) {
  const name = shortName(model);
  if (schema[name]) continue;
  const fields = models[model].getAttributeTypeMap().map(({ baseName, type, format }) => {
    const path = `${name}.${baseName}`;
    return [baseName, QUANTITIES[path] ?? fieldType(type, format)];
  });
  schema[name] = Object.fromEntries([...fields, ...Object.entries(NEWER[name] ?? {})].sort(byName));
}
for (const [name, fields] of Object.entries(NEWER)) schema[name] ??= fields;

for (const path of Object.keys(QUANTITIES)) {
  const [type, field] = path.split('.');
  if (!schema[type]?.[field]) throw new Error(`${path} is not there any more`);
}

const text = `// Made by scripts/generate-schema.mjs: do not edit.
import type { Schema } from './check-shape.ts';

/** The types of a Pod, a PodList and the objects that serve pods, Kubernetes 1.36. */
export const POD_SCHEMA: Schema = {
${Object.entries(schema)
  .sort(byName)
  .map(
    ([name, fields]) =>
      `  ${name}: {\n${Object.entries(fields)
        .map(([field, type]) => `    ${field}: '${type}',\n`)
        .join('')}  },\n`,
  )
  .join('')}};
`;
const pretty = await format(text, { ...(await resolveConfig(TARGET)), parser: 'typescript' });
if (process.argv.includes('--print')) process.stdout.write(pretty);
else writeFileSync(TARGET, pretty);

function fieldType(type, format) {
  const item = /^Array<(.+)>$/.exec(type)?.[1];
  if (item) return `Array<${fieldType(item, format)}>`;
  const value = /^\{ \[key: string\]: (.+); \}$/.exec(type)?.[1];
  if (value) return `Map<${fieldType(value, format)}>`;
  if (type === 'string') return format === 'byte' ? 'bytes' : 'string';
  if (type === 'number') return { int32: 'int32', int64: 'int' }[format] ?? 'number';
  if (type === 'Date' || type === 'V1MicroTime') return 'Time';
  if (type === 'boolean' || type === 'any' || type === 'IntOrString') return type;
  waiting.push(type);
  return shortName(type);
}

function shortName(model) {
  return model.replace(/^(?:Core)?V1/, '');
}

function byName([a], [b]) {
  return a < b ? -1 : 1;
}

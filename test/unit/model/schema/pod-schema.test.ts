import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { POD_SCHEMA } from '../../../../src/model/schema/pod-schema.ts';

const SCALARS = ['string', 'bytes', 'boolean', 'int', 'int32', 'number', 'Quantity', 'IntOrString', 'Time', 'any'];

describe('POD_SCHEMA', () => {
  it('is what the generator makes', () => {
    const made = execFileSync(process.execPath, ['scripts/generate-schema.mjs', '--print'], { encoding: 'utf8' });
    expect(readFileSync('src/model/schema/pod-schema.ts', 'utf8')).toBe(made);
  });

  it('knows every type that it names', () => {
    const named = Object.values(POD_SCHEMA).flatMap((fields) =>
      Object.values(fields).map((type) => type.replace(/^(?:Array|Map)<(.+)>$/, '$1')),
    );
    expect(named.filter((type) => !SCALARS.includes(type) && !POD_SCHEMA[type])).toEqual([]);
  });

  it('has the fields of Kubernetes 1.36 under the names of the API', () => {
    expect(POD_SCHEMA['PodSpec']).toMatchObject({
      hostnameOverride: 'string',
      schedulingGroup: 'PodSchedulingGroup',
      overhead: 'Map<Quantity>',
    });
    expect(POD_SCHEMA['Container']).toMatchObject({ restartPolicyRules: 'Array<ContainerRestartRule>' });
    expect(POD_SCHEMA['ListMeta']).toMatchObject({ continue: 'string' });
  });
});

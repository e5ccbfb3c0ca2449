import { describe, expect, it, test } from 'vitest';
import { hasSecretInCommand, plainEnd, withoutCommand } from '../../../../src/model/env/secret-in-command.ts';
import type { Container } from '../../../../src/model/pod.ts';

const PASSWORD = { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'login', key: 'password' } } };
const ALL = [{ prefix: 'S_', secretRef: { name: 'login' } }];

describe('hasSecretInCommand', () => {
  test.each<readonly [what: string, is: boolean, of: Partial<Container>]>([
    ['a variable from a Secret in an argument', true, { args: ['--password=$(PASSWORD)'], env: [PASSWORD] }],
    ['one in the command', true, { command: ['$(PASSWORD)'], env: [PASSWORD] }],
    [
      'one in the path of a mount',
      true,
      { volumeMounts: [{ name: 'v', mountPath: '/v', subPathExpr: '$(PASSWORD)' }], env: [PASSWORD] },
    ],
    [
      'a variable made of one',
      true,
      { args: ['$(URL)'], env: [PASSWORD, { name: 'URL', value: 'http://u:$(PASSWORD)@h' }] },
    ],
    ['one of a whole Secret', true, { args: ['$(S_PASSWORD)'], envFrom: ALL }],
    ['another prefix than that of the Secret', false, { args: ['$(T_PASSWORD)'], envFrom: ALL }],
    [
      'a variable that hides one of a whole Secret',
      false,
      { args: ['$(S_A)'], envFrom: ALL, env: [{ name: 'S_A', value: 'a' }] },
    ],
    ['a variable that only the program reads', false, { args: ['--verbose'], env: [PASSWORD] }],
    ['a shell that reads it', false, { command: ['sh', '-c', 'echo $PASSWORD'], env: [PASSWORD] }],
    [
      'a variable from a ConfigMap',
      false,
      { args: ['$(A)'], env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'c', key: 'a' } } }] },
    ],
  ])('of %s says %s', (_, is, container) => {
    expect(hasSecretInCommand({ name: 'main', ...container })).toBe(is);
  });
});

describe('withoutCommand', () => {
  it('leaves what the system says at the end', () => {
    expect(withoutCommand('runc: exec: "/bin/hunter2": stat /bin/hunter2: no such file or directory: unknown')).toBe(
      'no such file or directory; its other words are held back, because the command holds a variable from a Secret',
    );
  });

  it.each([
    'runc: exec: "/bin/hunter2": stat /bin/hunter2: no such file or directory: unknown',
    'exec /bin/hunter2: permission denied',
    'cannot do with hunter2',
  ])('makes the same of the part of %j that may be kept as of the whole', (message) => {
    expect(plainEnd(message)).not.toContain('hunter2');
    expect(withoutCommand(plainEnd(message))).toBe(withoutCommand(message));
  });

  it('leaves nothing of anything else', () => {
    expect(withoutCommand('cannot do with hunter2')).not.toContain('hunter2');
  });
});

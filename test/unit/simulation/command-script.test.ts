import { describe, expect, test } from 'vitest';
import { commandScript } from '../../../src/simulation/command-script.ts';

describe('commandScript', () => {
  test.each([
    [['sleep', '5'], { after: 5_000, code: 0 }],
    [['sleep', '1.5m'], { after: 90_000, code: 0 }],
    [['true'], { after: 0, code: 0 }],
    [['false'], { after: 0, code: 1 }],
    [['sh', '-c', 'exit 3'], { after: 0, code: 3 }],
    [['/bin/sh', '-c', 'sleep 2; exit 3'], { after: 2_000, code: 3 }],
    [['sh', '-c', 'false && exit 3; exit'], { after: 0, code: 1 }],
    [['sh', '-c', 'true && sleep 1 && exec sleep 2\nexit 9'], { after: 3_000, code: 0 }],
    [['sh', '-c', 'false; exit 0'], { after: 0, code: 0 }],
    [['sh', '-ec', 'false; exit 0'], { after: 0, code: 1 }],
    [['sh', '-c', 'echo "a  b"; sleep 1'], { after: 1_000, code: 0 }],
  ])('ends as %j does', (command, exits) => {
    expect(commandScript({ command }).exits).toEqual(exits);
  });

  test.each([
    [['sleep', 'infinity']],
    [['sleep', '1000d']],
    [['httpd', '-f']],
    [['sh', '-c', 'exit $CODE']],
    [['sh', '-c', 'while :; do sleep 1; done']],
    [['sh', '-c', 'sleep 1 & wait']],
    [['sh', '-c', 'true || exit 3']],
    [['sh', '-c', 'sleep 1; httpd -f']],
    [['sh', '-c', 'echo hi > /www/index.html; exit 1']],
    [['sh', 'script.sh']],
    [['exit', 'soon']],
    [[]],
  ])('lets %j run until it is stopped, for more than that is not understood', (command) => {
    expect(commandScript({ command }).exits).toBeUndefined();
  });

  test('reads the arguments behind the command, and leaves to the image what has none', () => {
    expect(commandScript({ command: ['sh', '-c'], args: ['exit 4'] }).exits).toEqual({ after: 0, code: 4 });
    expect(commandScript({ args: ['sh', '-c', 'exit 4'] }).exits).toBeUndefined();
  });

  test('prints what is echoed, when it is', () => {
    expect(commandScript({ command: ['sh', '-c', "echo begins; sleep 2; echo 'the end'; sleep inf"] }).prints).toEqual([
      { after: 0, text: 'begins' },
      { after: 2_000, text: 'the end' },
    ]);
  });

  test.each([
    [['cat', '/tmp/ready'], { exitCode: 0, stdout: '', after: 0 }],
    [['sh', '-c', 'echo no; exit 1'], { exitCode: 1, stdout: 'no\n', after: 0 }],
    [['sleep', '3'], { exitCode: 0, stdout: '', after: 3_000 }],
  ])('answers %j that is run beside it by the same rule', (command, answer) => {
    expect(commandScript({}).exec?.(command)).toEqual(answer);
  });
});

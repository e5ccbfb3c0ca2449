import { briefDuration } from './brief-duration.ts';
import type { Act, Whose } from './script.ts';

/** A step in a few words. */
export function describeStep(act: Act): string {
  switch (act.do) {
    case 'addManifest':
      return `${act.as} is put into the folder`;
    case 'editManifest':
      return `${act.file} is edited: ${act.with} for ${act.replace}`;
    case 'removeManifest':
      return `${act.file} is removed`;
    case 'exitContainer':
      return `${who(act, 'every container')} ends with ${act.code}${act.reason === undefined ? '' : ` (${act.reason})`}`;
    case 'killSandbox':
      return `the sandbox of ${who(act)} is killed`;
    case 'commandPod':
      return `rxlet ${act.verb} ${who(act)}`;
    case 'fillVolume':
      return `${who(act)} writes ${act.size} bytes into ${act.volume}`;
    case 'fault': {
      const calls = act.calls.length === 0 ? 'calls to the runtime' : act.calls.join(', ');
      const by = 'by' in act.fault ? ` by ${briefDuration(act.fault.by)}` : '';
      const times = act.times === undefined ? '' : `, ${act.times} times`;
      const whose = act.pod === undefined ? '' : ` for ${act.pod}`;
      return `${calls}${whose}: ${KINDS[act.fault.kind]}${by}${times}${lasting(act.for)}`;
    }
    case 'restartRuntime':
      return `the runtime restarts${act.loseSandboxes ? ' and has lost everything' : ''}${lasting(act.for)}`;
    case 'reboot':
      return 'the machine starts anew';
    case 'cutEvents':
      return 'the stream of events breaks off';
    case 'crashAgent':
      return `the agent crashes${act.for === 0 ? ', and another one starts' : lasting(act.for)}`;
    case 'disk':
      return `the disk is ${act.state === 'full' ? 'full' : 'read-only'}${lasting(act.for)}`;
    case 'networkDown':
      return `the network of pods is down${lasting(act.for)}`;
    case 'setClock':
      return `the clock is set by ${briefDuration(act.by)}`;
  }
}

const KINDS = {
  fail: 'fail',
  slow: 'slower',
  late: 'answers late',
  linger: 'lingers',
  hang: 'no answer',
  loseAnswer: 'the answer is lost',
} as const;

function who({ pod = '', container }: Whose, everybody = ''): string {
  if (container !== undefined) return `${container} of ${pod}`;
  return everybody === '' ? pod : `${everybody} of ${pod}`;
}

function lasting(milliseconds: number | undefined): string {
  return milliseconds === undefined || milliseconds === 0 ? '' : `, for ${briefDuration(milliseconds)}`;
}

#!/usr/bin/env node
// Builds the images that a private node needs as OCI archives, from the static busybox of this machine, without docker.
//   build-images.mjs FOLDER            writes FOLDER/pause.tar and FOLDER/busybox.tar; does nothing when they are up to date
//   build-images.mjs FOLDER --corpus   writes the images of the node on which the corpus was recorded
// The same busybox gives the same bytes, so image ids are stable.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { chmodSync, copyFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const EPOCH = '1970-01-01T00:00:00Z';
const PATH = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const ARCHITECTURE = { x64: 'amd64', arm64: 'arm64' }[process.arch] ?? process.arch;
// As process 1 of a sandbox it holds the namespaces, ends at once when asked and reaps what is orphaned to it.
const PAUSE = "trap 'exit 0' TERM INT; while :; do sleep 86400 & wait; done";

const busybox = ['/bin/busybox', '/usr/bin/busybox'].find((path) => existsSync(path));
if (!busybox) throw new Error('no busybox: install the Debian package busybox-static');

process.umask(0o022);
const folder = process.argv[2];
mkdirSync(folder, { recursive: true });
const work = mkdtempSync(join(tmpdir(), 'rxlet-images-'));
try {
  const applets = execFileSync(busybox, ['--list'], { encoding: 'utf8' }).trim().split('\n');
  if (process.argv[3] === '--corpus') buildCorpusImages(applets);
  else {
    build('pause', 'rxlet.test/pause:1', { Env: [PATH], Entrypoint: ['/bin/sh', '-c', PAUSE] }, ['sh', 'sleep']);
    build('busybox', 'docker.io/library/busybox:1.35', { Env: [PATH], Cmd: ['sh'] }, applets);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** See test/corpus/cases/README.md, "The node of the recording". */
function buildCorpusImages(applets) {
  const plain = { Env: ['PATH=/bin'], Cmd: ['sh'] };
  const busyboxes = ['1.35', '1.36', 'latest'].map((tag) => [
    'docker.io/library/busybox',
    tag,
    plain,
    { 'www/index.html': `${tag}\n` },
  ]);
  const passwd = 'root:x:0:0:root:/root:/bin/sh\napp:x:4321:4322:app:/:/bin/sh\n';
  const users = { 'etc/passwd': passwd, 'etc/group': 'root:x:0:\napp:x:4322:\nextra:x:4400:app\n' };
  const entry = 'echo "args=$*"; echo "pwd=$(pwd)"; echo "uid=$(id)"; env | sort; exec sleep 3000\n';
  const full = {
    Env: ['PATH=/bin', 'COLOR=blue', 'SHAPE=round'],
    Entrypoint: ['/bin/sh', '/srv/entry.sh'],
    Cmd: ['one', 'two'],
    WorkingDir: '/srv',
    User: '1234:2345',
  };
  const OBEY = "trap 'exit 7' INT USR1; while :; do sleep 1 & wait; done";
  const others = [
    ['full', full, { 'srv/entry.sh': entry }],
    ['named', { ...plain, User: 'app' }, users],
    ['numeric', { ...plain, User: '4321' }, users],
    ['stop', { ...plain, Cmd: ['sh', '-c', OBEY], StopSignal: 'SIGUSR1' }, { stop: '1' }],
    ['vol', { ...plain, Volumes: { '/data': {} } }, { vol: '1' }],
    ['files', plain, { 'a.txt': 'a\n', 'dir/b.txt': 'b\n' }],
  ].map(([name, config, files]) => [`gold.test/${name}`, '1', config, files]);
  for (const [repository, tag, config, files] of [...busyboxes, ...others])
    build(`${repository.split('/').at(-1)}_${tag}`, `${repository}:${tag}`, config, applets, files);
}

function build(name, reference, config, applets, files = {}) {
  const archive = join(folder, `${name}.tar`);
  if (isNewer(archive, busybox) && isNewer(archive, fileURLToPath(import.meta.url))) return;

  const root = join(work, `${name}-root`);
  for (const dir of ['bin', 'etc', 'root', 'home', 'tmp', 'var/www', 'usr/local/bin'])
    mkdirSync(join(root, dir), { recursive: true });
  chmodSync(join(root, 'tmp'), 0o1777);
  copyFileSync(busybox, join(root, 'bin/busybox'));
  chmodSync(join(root, 'bin/busybox'), 0o755);
  for (const applet of applets) if (applet !== 'busybox') symlinkSync('busybox', join(root, 'bin', applet));
  writeFileSync(
    join(root, 'etc/passwd'),
    'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/home:/bin/false\n',
  );
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\nnogroup:x:65534:\n');
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const layer = tar(join(work, `${name}-layer.tar`), root);

  const layout = join(work, `${name}-layout`);
  mkdirSync(join(layout, 'blobs/sha256'), { recursive: true });
  const layerBlob = blob(layout, 'application/vnd.oci.image.layer.v1.tar', readFileSync(layer));
  const configBlob = blob(layout, 'application/vnd.oci.image.config.v1+json', {
    created: EPOCH,
    architecture: ARCHITECTURE,
    os: 'linux',
    config,
    rootfs: { type: 'layers', diff_ids: [layerBlob.digest] },
    history: [{ created: EPOCH, created_by: 'rxlet scripts/lib/build-images.mjs' }],
  });
  const manifestType = 'application/vnd.oci.image.manifest.v1+json';
  const manifest = blob(layout, manifestType, {
    schemaVersion: 2,
    mediaType: manifestType,
    config: configBlob,
    layers: [layerBlob],
  });
  const tag = reference.slice(reference.lastIndexOf(':') + 1);
  writeJson(join(layout, 'index.json'), {
    schemaVersion: 2,
    manifests: [
      { ...manifest, annotations: { 'io.containerd.image.name': reference, 'org.opencontainers.image.ref.name': tag } },
    ],
  });
  writeJson(join(layout, 'oci-layout'), { imageLayoutVersion: '1.0.0' });
  tar(`${archive}.${process.pid}`, layout);
  renameSync(`${archive}.${process.pid}`, archive);
}

function isNewer(path, than) {
  return existsSync(path) && statSync(path).mtimeMs >= statSync(than).mtimeMs;
}

function tar(path, root) {
  const same = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--format=ustar'];
  execFileSync('tar', ['-C', root, ...same, '-cf', path, '.']);
  return path;
}

function blob(layout, mediaType, content) {
  const bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content));
  const hex = createHash('sha256').update(bytes).digest('hex');
  writeFileSync(join(layout, 'blobs/sha256', hex), bytes);
  return { mediaType, digest: `sha256:${hex}`, size: bytes.length };
}

function writeJson(path, value) {
  writeFileSync(path, JSON.stringify(value));
}

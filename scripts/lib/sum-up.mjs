#!/usr/bin/env node
// Sums up the results that scripts/test has gathered in a folder. Last line: "N passed, N failed"; exit code 1 unless all passed.
//   NAME.steps           lines "passed STEP" or "failed STEP"
//   NAME.code, NAME.json exit code of a vitest run, and its JSON report, which is missing when vitest could not begin
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const MOST_LINES = 6;
const MOST_CHARACTERS = 600;

const folder = process.argv[2];
const parts = readdirSync(folder)
  .sort()
  .flatMap((file) => {
    if (file.endsWith('.steps')) return [steps(file)];
    return file.endsWith('.code') ? [vitest(file.slice(0, -'.code'.length))] : [];
  });

for (const { name, passed, failures } of parts) {
  console.log(`${failures.length === 0 ? 'ok  ' : 'FAIL'} ${name}: ${passed} passed, ${failures.length} failed`);
  for (const failure of failures) console.log(`       ${failure}`);
}
const passed = parts.reduce((sum, part) => sum + part.passed, 0);
const failed = parts.reduce((sum, part) => sum + part.failures.length, 0);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

function steps(file) {
  const lines = read(file)
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
  const failures = lines.filter(([result]) => result === 'failed').map(([, step]) => step);
  return { name: file.slice(0, -'.steps'.length), passed: lines.length - failures.length, failures };
}

function vitest(name) {
  const code = Number(read(`${name}.code`));
  if (!existsSync(join(folder, `${name}.json`)))
    return { name, passed: 0, failures: [`vitest ended with ${code} and no report`] };
  const report = JSON.parse(read(`${name}.json`));
  const failures = report.testResults.flatMap(({ name: file, status, assertionResults }) => {
    const failed = assertionResults
      .filter((test) => test.status === 'failed')
      .map((test) => [`${relative(file)}: ${test.fullName}`, ...reasonsOf(test)].join('\n         '));
    // A file that cannot be loaded, or whose hooks fail, fails without a test of its own that fails.
    return status === 'failed' && failed.length === 0 ? [`${relative(file)}: the file itself failed`] : failed;
  });
  // Errors outside of any test, or no tests at all.
  if (code !== 0 && failures.length === 0) failures.push(`vitest ended with ${code}`);
  return { name, passed: report.numPassedTests, failures };
}

/** Why it failed, without the places in the code: of long texts the beginning. */
function reasonsOf({ failureMessages = [] }) {
  const lines = failureMessages.join('\n').split('\n');
  return lines
    .filter((line) => line.trim() !== '' && !/^\s+at /.test(line))
    .slice(0, MOST_LINES)
    .map((line) => (line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)}…` : line));
}

function read(file) {
  return readFileSync(join(folder, file), 'utf8');
}

function relative(file) {
  return file.replace(`${process.cwd()}/`, '');
}

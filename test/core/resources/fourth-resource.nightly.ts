import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { cloneTo, ROOT } from '../../package/packed.ts';
import { newFolder, startProcess } from '../../support/process/process.ts';
import { NAMES } from '../../support/resources.ts';
import { runTool, toolEnvironment } from '../../support/tools.ts';

/** The tests that a new resource changes. */
const TESTS_TO_CHANGE = ['test/core/resources/index.test.ts'];

/** The edits that add a resource, by file, as CONTRIBUTING.md lists them; `npm run settings` writes the rest. */
const EDITS: Readonly<Record<string, (text: string) => string>> = {
  'src/core/resources/index.ts': (text) =>
    text
      .replace('\n\n', "\nimport { reports } from './reports.ts';\n\n")
      .replace(`[${NAMES.join(', ')}]`, `[${NAMES.join(', ')}, reports]`),
  'bundle/manifest.json': (text) =>
    text.replace(
      /( +)\{ "name": "list_installed_tools".*\}/,
      '$&,\n$1{ "name": "list_reports", "description": "Lists the reports." }',
    ),
};

const REPORTS = `
import { z } from 'zod';
import type { Resource } from './resource.ts';

export const reports = {
  name: 'reports',
  title: 'Reports',
  description: 'All reports.',
  tool: 'list_reports',
  keywords: ['report'],
  stored: true,
  shape: z.strictObject({ id: z.string().min(1), name: z.string().min(1), severity: z.string(), foundAt: z.string() }),
  query: { state: 'open' },
  formats: { foundAt: 'timestamp' },
  filters: ['severity'],
} as const satisfies Resource;
`;

describe('a resource that is added to the repository', function () {
  this.timeout(1_200_000);

  // Runs all fast tests once more.
  it(`fails no test but ${TESTS_TO_CHANGE.join(', ')}`, async () => {
    const clone = join(await newFolder(), 'clone');
    await cloneTo(clone);
    await symlink(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
    await writeFile(join(clone, 'src/core/resources/reports.ts'), REPORTS);
    for (const [file, edit] of Object.entries(EDITS)) {
      const before = await readFile(join(clone, file), 'utf8');
      expect(edit(before), file).not.to.equal(before);
      await writeFile(join(clone, file), edit(before));
    }
    await runTool('npm', ['run', 'settings'], clone);
    await runTool('npm', ['run', 'check:types'], clone);
    const report = join(clone, 'report.json');
    const reporter = ['--reporter', 'json', '--reporter-option', `output=${report}`];
    // Linked packages have other paths than those that the floors expect.
    const options = ['--parallel', '--jobs', '4', '--ignore', 'test/floors.test.ts', ...reporter];
    const mocha = join(ROOT, 'node_modules/mocha/bin/mocha.js');
    await startProcess(process.execPath, [mocha, ...options, 'test/**/*.test.ts'], {
      cwd: clone,
      env: toolEnvironment(),
    }).ended;
    const { failures, stats } = JSON.parse(await readFile(report, 'utf8'));
    expect(stats.passes).to.be.above(1000);
    const files: string[] = failures.map(({ file }: { file: string }) => file.slice(file.indexOf('/test/') + 1));
    expect([...new Set(files)]).to.deep.equal(TESTS_TO_CHANGE);
  });
});

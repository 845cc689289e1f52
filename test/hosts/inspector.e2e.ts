import { join } from 'node:path';
import { type Served, serve } from '../core/mcp/clients/served.ts';
import { worksWith } from '../core/mcp/clients/works-with.ts';
import { installPlatform } from '../support/platform/installed.ts';
import { newFolder } from '../support/process/process.ts';
import { inspector } from './inspector.ts';

/** One process after another, at times on a busy machine. */
const TIMEOUT_MS = 120_000;

describe("the Inspector's CLI", function () {
  this.timeout(TIMEOUT_MS);
  let launcher: string;
  let served: Served;

  before(async function () {
    this.timeout(600_000);
    const name = '@modelcontextprotocol/inspector';
    launcher = join(
      await installPlatform(this, { name, version: '2.12.0', scripts: [name] }),
      'clients/launcher/build/index.js',
    );
    served = await serve(await newFolder());
  });

  after(() => served?.close());

  for (const revision of ['2026-07-28', '2025-11-25'] as const) {
    worksWith(
      inspector(revision, () => launcher),
      () => served,
    );
  }
});

import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { atDepth } from '../../support/depth.ts';
import { startProcess } from '../../support/process/process.ts';

const CHILD = fileURLToPath(new URL('change/under-load.ts', import.meta.url));
const CHANGES = atDepth(300, 1000);
/** What may be held more than before, once the old ones have ended: each of them would be 100 KB and more. */
const MORE_BYTES = 1_000_000;
/** Connections to the platform that undici holds, open or not: those of one core have their settings' bound. */
const MAX_CLIENTS = 3 * 16;
/** Connections that come and go: those of its readers, and those to the platform. */
const MORE_DESCRIPTORS = 50;

describe('a gateway under load', () => {
  it(`fails no read during ${CHANGES} settings changes, and leaks nothing`, async () => {
    const running = startProcess(process.execPath, ['--expose-gc', CHILD, String(CHANGES)]);
    const { code, stdout, stderr } = await running.ended;
    expect(code, stderr.slice(0, 2000)).to.equal(0);
    const { outcomes, before, after } = JSON.parse(stdout);
    // Status, items, and kinds of items: each list is mapped as a whole by the one settings or by the other.
    expect(Object.keys(outcomes)).to.deep.equal(['200 50 1']);
    expect(outcomes['200 50 1']).to.be.above(CHANGES);
    expect(after.clients).to.be.within(1, MAX_CLIENTS);
    expect(after.held - before.held).to.be.below(MORE_BYTES);
    expect(after.descriptors).to.be.below(before.descriptors + MORE_DESCRIPTORS);
  }).timeout(180_000);
});

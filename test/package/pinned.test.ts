import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { readDoc as read } from '../support/docs.ts';

const WORKFLOWS = readdirSync(new URL('../../.github/workflows', import.meta.url));
const DIGEST = /^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/;

describe('what CI and images download', () => {
  it('includes actions by commit, with the tag in a comment', () => {
    const uses = WORKFLOWS.flatMap((file) => [...read(`.github/workflows/${file}`).matchAll(/\buses:\s*(.*)$/gm)]);
    expect(uses).not.to.have.length(0);
    for (const [, action] of uses) expect(action).to.match(/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('includes base images and the build frontend by digest', () => {
    const text = read('Dockerfile');
    const images = [...text.matchAll(/^(?:FROM|# syntax=)\s*(\S+)/gm)].map(([, image]) => image);
    expect(images).to.have.length(3);
    for (const image of images) expect(image).to.match(DIGEST);
  });

  it('includes the shared store by digest', () => {
    const images = [...read('deploy/compose/fleet.yaml').matchAll(/^\s*image:\s*(\S+)$/gm)].map(([, image]) => image);
    const ofOthers = images.filter((image) => !image?.startsWith('portico:'));
    expect(ofOthers).to.have.length(1);
    for (const image of ofOthers) expect(image).to.match(DIGEST);
  });
});

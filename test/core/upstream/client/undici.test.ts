import { createRequire } from 'node:module';
import { expect } from 'chai';
import * as whole from 'undici';
import { innerParts, undici } from '../../../../src/core/upstream/client/undici.ts';

const require = createRequire(import.meta.url);

describe('the parts of undici', () => {
  it('are those that its index has', () => {
    const { Client, errors, buildConnector } = whole;
    expect(undici).to.deep.equal({ Client, errors, buildConnector });
    expect(innerParts(require)).to.deep.equal(undici);
  });

  it('are not taken where a release has moved one of their files', () => {
    const moved = (file: string) => require(file.replace('core/connect', 'core/moved'));
    expect(innerParts(moved)).to.equal(undefined);
  });
});

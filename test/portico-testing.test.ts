import { expect } from 'chai';
import * as portico from '../src/portico-testing.ts';
import * as testing from '../src/testing/testing.ts';

describe("import 'portico/testing'", () => {
  it('gives what the types of testing.ts name, as it is', () => {
    expect({ ...portico }).to.deep.equal({ ...testing });
  });
});

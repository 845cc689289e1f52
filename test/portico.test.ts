import { expect } from 'chai';
import * as gateway from '../src/gateway.ts';
import * as portico from '../src/portico.ts';

describe("import 'portico'", () => {
  it('gives what the types of gateway.ts name, as it is', () => {
    expect({ ...portico }).to.deep.equal({ ...gateway });
  });
});

import { expect } from 'chai';
import { processEnvironment } from '../../src/config/environment.ts';

describe('the environment of the process', () => {
  it('is taken with an overlay on top, and is not changed by it', () => {
    const environment = processEnvironment({ PORTICO_TEST_OVERLAY: 'a', PATH: 'b' });
    expect(environment).to.include({ PORTICO_TEST_OVERLAY: 'a', PATH: 'b' });
    expect(process.env['PORTICO_TEST_OVERLAY']).to.equal(undefined);
    expect(processEnvironment()['PATH']).to.equal(process.env['PATH']);
  });
});

import { expect } from 'chai';
import { capConnections, readDescriptorLimit } from '../../src/core/descriptors.ts';
import { parseConfig } from '../support/limits.ts';

const config = (more: object) =>
  parseConfig({ upstreams: { tools: { baseUrl: 'http://127.0.0.1:9', connections: 36 } }, ...more });

describe('the cap of connections', () => {
  it('is what the limit of open files leaves beside upstreams, the admin listener and the process', () => {
    expect(capConnections(config({}), 100, 1000)).to.deep.equal({
      ...{ maxConnections: 800, configured: 10_000, maxDescriptors: 1000 },
    });
    expect(capConnections(config({ admin: { enabled: false } }), 100, 1000)).to.include({ maxConnections: 900 });
  });

  it('is a quarter of a limit that leaves less', () => {
    expect(capConnections(config({}), 100, 202)).to.include({ maxConnections: 51 });
  });

  it('is the setting where the limit allows that many, or is not known', () => {
    expect(capConnections(config({}), 100, 10_200)).to.equal(undefined);
    expect(capConnections(config({ http: { maxConnections: 800 } }), 100, 1000)).to.equal(undefined);
    expect(capConnections(config({}), 100, undefined)).to.equal(undefined);
  });

  it('is by the limit of this process', () => {
    expect(readDescriptorLimit()).to.be.greaterThan(100);
  });
});

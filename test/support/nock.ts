import nock from 'nock';

// Once imported, nock intercepts all sockets of the process, including those of real servers in other files: raw
// bytes, resets and Unix sockets behave differently. mocha loads this file before any test, so that it begins idle.
nock.restore();

/** For use in a `describe`: nock is at work in its tests, and lets through only what goes to 127.0.0.1. */
export function useNock(): void {
  before(() => {
    nock.activate();
    nock.disableNetConnect();
    nock.enableNetConnect('127.0.0.1');
  });
  after(() => {
    nock.enableNetConnect();
    nock.restore();
  });
}

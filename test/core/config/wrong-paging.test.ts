import { expect } from 'chai';
import { startGateway } from '../../support/gateway.ts';
import { ITEMS, PAGED_LISTS, servePagedList } from '../../support/platform/example-platforms.ts';

const PAGINGS = [
  { kind: 'none' },
  { kind: 'token' },
  { kind: 'offset' },
  { kind: 'page' },
  { kind: 'link' },
  { kind: 'link', next: 'next_page' },
  { kind: 'page', sizeParam: 'size', pageParam: 'p', firstPage: 0 },
  { kind: 'offset', sizeParam: 'count', offsetParam: 'start' },
  { kind: 'token', tokenParam: 'after', next: 'next' },
] as const;

describe('an example with wrong pagination settings', () => {
  for (const list of PAGED_LISTS) {
    const [example, resource] = list;
    it(`reads ${resource} of ${example} completely or answers upstream_invalid`, async () => {
      const settings = await servePagedList(list);
      const outcomes = new Set<number>();
      for (const pagination of [undefined, ...PAGINGS]) {
        const { read } = await startGateway(settings(pagination));
        const response = await read(resource);
        const body = await response.json();
        outcomes.add(response.status);
        const told = JSON.stringify(pagination);
        if (response.status === 200 || pagination === undefined) expect(body, told).to.have.length(ITEMS);
        else expect(body, told).to.include({ status: 502, code: 'upstream_invalid' });
      }
      // Some of the wrong settings read the list, too.
      expect([...outcomes]).to.have.members([200, 502]);
    });
  }
});

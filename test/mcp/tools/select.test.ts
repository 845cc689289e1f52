import { expect } from 'chai';
import { select } from '../../../src/mcp/tools/select.ts';

const ITEMS = [
  { id: '1', name: 'Nmap', description: 'Finds open ports.', category: 'NETWORK' },
  { id: '2', name: 'Semgrep', description: 'Reads SOURCE code.', category: 'CODE' },
  { id: '3', name: 'Straße', description: '', category: 'CODE' },
];
const ids = (filter: Parameters<typeof select>[1]) => select(ITEMS, filter).map(({ id }) => id);

describe('a list', () => {
  it('is left whole by no filter', () => {
    expect(select(ITEMS, { exact: {} })).to.equal(ITEMS);
    expect(ids({ query: '', exact: {} })).to.deep.equal(['1', '2', '3']);
  });

  it('is narrowed by what its names and descriptions hold, in any case', () => {
    expect(ids({ query: 'SEM', exact: {} })).to.deep.equal(['2']);
    expect(ids({ query: 'source', exact: {} })).to.deep.equal(['2']);
    expect(ids({ query: 'straSSe', exact: {} })).to.deep.equal([]);
    expect(ids({ query: 'STRAß', exact: {} })).to.deep.equal(['3']);
    expect(ids({ query: 'network', exact: {} })).to.deep.equal([]);
  });

  it('is narrowed by fields that are exactly so', () => {
    expect(ids({ exact: { category: 'CODE' } })).to.deep.equal(['2', '3']);
    expect(ids({ exact: { category: 'code' } })).to.deep.equal([]);
    expect(ids({ exact: { category: 'CODE', id: '3' } })).to.deep.equal(['3']);
    expect(ids({ query: 'e', exact: { category: 'NETWORK' } })).to.deep.equal(['1']);
    expect(ids({ exact: { description: '' } })).to.deep.equal(['3']);
  });
});

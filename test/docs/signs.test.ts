import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { HEADERS, MEMBERS, META, SIGNS } from '../../src/core/upstream/signs/signs.ts';

describe('the signs in docs/configuration.md', () => {
  const page = readFileSync('docs/configuration.md', 'utf8');
  const [, section = ''] = /^## Signs that a list goes on\n(.*?)^## /ms.exec(page) ?? [];
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  const namesIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name);

  it('are exactly those that exist, in order', () => {
    expect(rows.map((row) => namesIn(row)[0])).to.deep.equal([...SIGNS]);
  });

  it('have exactly the members and headers that indicate them', () => {
    const named = Object.entries({ ...MEMBERS, ...HEADERS }).map(([sign]) => sign);
    const beside = ['Content-Range', 'rel: next', 'Link: rel=next', 'Link: rel=prev', 'false', 'more'];
    const known = [...Object.values(MEMBERS), ...Object.values(HEADERS)].flat();
    for (const sign of named.filter((name) => name !== 'end')) {
      const row = rows.find((line) => line.startsWith(`| \`${sign}\``)) ?? '';
      const expected = [MEMBERS[sign], (HEADERS as typeof MEMBERS)[sign], sign === 'more' ? MEMBERS['end'] : []].flat();
      const written = namesIn(row.split('|').slice(3).join('|')).filter((name) => !beside.includes(String(name)));
      expect(written, sign).to.have.members(expected.filter((name) => name !== undefined && !beside.includes(name)));
      for (const name of written) expect(known).to.include(name);
    }
    const meta = /^Meta members are (.*?)\.\s`X-Pagination`/ms.exec(section)?.[1] ?? '';
    expect(namesIn(meta)).to.deep.equal([...META]);
  });
});

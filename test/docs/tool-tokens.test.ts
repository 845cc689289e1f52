import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { loadTokenizer, tokenTable } from '../../scripts/tool-tokens.ts';
import { skipAloud } from '../support/tools.ts';

describe('docs/clients.md', () => {
  it('has the tokens of the tools as node scripts/tool-tokens.ts counts them', async function () {
    this.timeout(20_000);
    const countTokens = await loadTokenizer().catch((error) => skipAloud(this, 'no tokenizer: run npm ci', error));
    expect(readFileSync('docs/clients.md', 'utf8')).to.contain(await tokenTable(countTokens));
  });
});

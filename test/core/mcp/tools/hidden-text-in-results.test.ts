import { expect } from 'chai';
import type { Reader } from '../../../support/catalogue.ts';
import { toolItem } from '../../../support/platform/loads.ts';
import { asked, cachedFor, loadOf } from '../asked.ts';

const CLEAN = toolItem('clean', { name: '👩🏽‍💻 می‌خواهم' });
const HIDDEN = toolItem('hidden', {
  name: 'a\u202eb\u{e0069}\u{e0067}',
  description: 'Scans\u200b things.\x1b[2J\r\n"\\u001b"',
  category: 'SCAN\u200bNER',
});
const SHOWN = toolItem('hidden', {
  name: 'a\\u{202e}b\\u{e0069}\\u{e0067}',
  description: 'Scans\\u{200b} things.\\u{1b}[2J\r\n"\\u001b"',
  category: 'SCAN\\u{200b}NER',
});
const hiding: Reader = () => loadOf([CLEAN, HIDDEN], cachedFor(1000));

/** Calls the tool, and gives its result. */
async function call(args: object = {}, options: Parameters<typeof asked>[0] = { read: hiding }) {
  return (await asked(options).earlier('tools/call', { name: 'list_installed_tools', arguments: args })).json.result;
}

describe('hidden characters of a list', () => {
  it('are shown in the result of a tool, equally as data and as text, and counted by field', async () => {
    const { structuredContent, content, _meta } = await call();
    expect(structuredContent.items).to.deep.equal([CLEAN, SHOWN]);
    expect(JSON.parse(content[0].text)).to.deep.equal(structuredContent);
    expect(_meta['portico/hiddenText']).to.deep.equal({ name: 3, description: 2, category: 1 });
  });

  it('are shown in selected fields, pages and counts', async () => {
    const { structuredContent: fields } = await call({ fields: ['category'], limit: 2 });
    expect(fields.items).to.deep.equal([{ category: 'SCANNER' }, { category: 'SCAN\\u{200b}NER' }]);
    const { structuredContent: first } = await call({ limit: 1 });
    const { structuredContent: second } = await call({ limit: 1, cursor: first.nextCursor });
    expect(second.items).to.deep.equal([SHOWN]);
    const { counts } = (await call({ count_by: ['category'] })).structuredContent;
    const values = counts.category.map(({ value }: { value: string }) => value);
    expect(values).to.have.members(['SCANNER', 'SCAN\\u{200b}NER']);
  });

  it('are found as they are, and as they are shown', async () => {
    for (const query of ['a\u202eb', 'A\\u{202e}B'])
      expect((await call({ query })).structuredContent.items, query).to.deep.equal([SHOWN]);
    for (const category of ['scan\u200bner', 'SCAN\\u{200b}NER'])
      expect((await call({ category })).structuredContent.items, category).to.deep.equal([SHOWN]);
  });

  it('stay in resources/read, and everywhere with hiddenText: keep', async () => {
    const { json } = await asked({ read: hiding }).earlier('resources/read', { uri: 'platform://tools' });
    expect(JSON.parse(json.result.contents[0].text)).to.deep.equal([CLEAN, HIDDEN]);
    const kept = await call({}, { read: hiding, hiddenText: 'keep' });
    expect(kept.structuredContent.items).to.deep.equal([CLEAN, HIDDEN]);
    expect(kept._meta).not.to.have.property('portico/hiddenText');
  });
});

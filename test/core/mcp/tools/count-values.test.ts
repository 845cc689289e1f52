import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { anyText } from '../../../support/any-text.ts';
import { atDepth } from '../../../support/depth.ts';
import { toolItem } from '../../../support/platform/loads.ts';
import { type AskedOptions, asked, cachedFor, loadOf } from '../asked.ts';

type Item = Readonly<Record<string, string>>;
interface Count {
  readonly value?: string;
  readonly others?: number;
  readonly count: number;
}

async function count(args: object, options: AskedOptions) {
  const params = { name: 'list_installed_tools', arguments: args };
  return (await asked(options).current('tools/call', params)).json.result;
}

const reading = (items: readonly object[]): AskedOptions => ({ read: () => loadOf(items, cachedFor(1000)) });

/** What counting the whole list comes to. */
function expectedCounts(items: readonly Item[], field: string): Count[] {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item[field] ?? '', (counts.get(item[field] ?? '') ?? 0) + 1);
  const all = [...counts].map(([value, times]) => ({ value, count: times }));
  return all.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}

describe('counts by value', () => {
  it('equal those of the list', async () => {
    const usual = fc.constantFrom('', 'other', 'others', '__proto__', '1', 'a', 'A');
    const value = fc.oneof(usual, anyText({ maxLength: 3 }));
    const lists = fc.array(fc.tuple(value, value), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(lists, fc.option(fc.constantFrom('a', 'other')), async (rows, category) => {
        const items = rows.map(([kind, description], index) => toolItem(`${index}`, { category: kind, description }));
        // As it is read: what is not well-formed is replaced.
        const whole: Item[] = JSON.parse(loadOf(items).snapshot.bytes.toString());
        const found = whole.filter((item) => category === null || item['category']?.toLowerCase() === category);
        const asKept: AskedOptions = { ...reading(items), hiddenText: 'keep' };
        const { structuredContent } = await count({ count_by: ['description', 'category'], category }, asKept);
        const { total, counts, items: none, nextCursor } = structuredContent;
        expect({ total, none, nextCursor }).to.deep.equal({ total: found.length, none: [], nextCursor: undefined });
        for (const field of ['category', 'description']) {
          const expected = expectedCounts(found, field);
          const others = expected.slice(50);
          const rest = { others: others.length, count: others.reduce((sum, { count: times }) => sum + times, 0) };
          expect(counts[field]).to.deep.equal([...expected.slice(0, 50), ...(others.length > 0 ? [rest] : [])]);
        }
      }),
      { numRuns: atDepth(20, 400) },
    );
  });

  it('are few and short, and add up to the total, in the form of the schema', async () => {
    const { tools } = (await asked().current('tools/list')).json.result;
    const validate = new Ajv2020().compile(tools[2].outputSchema);
    for (const length of [1, 64, 65]) {
      const items = Array.from({ length: 300 }, (_, index) => toolItem(`${index}`.padStart(length, 'ä')));
      const fields = ['id', 'name', 'version', 'category', 'description'];
      const { structuredContent } = await count({ count_by: fields, limit: 0 }, reading(items));
      expect(validate(structuredContent), JSON.stringify(validate.errors)).to.equal(true);
      for (const counts of Object.values<Count[]>(structuredContent.counts)) {
        expect(counts.length).to.be.at.most(51);
        expect(counts.reduce((sum, { count: times }) => sum + times, 0)).to.equal(300);
        expect(counts.slice(0, -1).filter(({ value }) => value === undefined)).to.deep.equal([]);
      }
      const { isError, content } = await count({ count_by: ['id'] }, { ...reading(items), maxResultBytes: 1024 });
      expect(isError ?? false).to.equal(length < 65);
      if (isError) expect(content[0].text).to.match(/^result_too_large: .*fewer to count/);
    }
  });

  it('are refused if there are too many different values to count', async () => {
    const items = Array.from({ length: 10_000 }, (_, index) => toolItem(`tool-${index}`));
    const { isError, content } = await count({ count_by: ['category', 'id'] }, reading(items));
    expect(isError).to.equal(true);
    expect(content[0].text).to.match(/^result_too_large: There are too many different values to count, .* id\./);
    const { structuredContent } = await count({ count_by: ['category'] }, reading(items));
    expect(structuredContent.counts).to.deep.equal({ category: [{ value: 'SCANNER', count: 10_000 }] });
  });
});

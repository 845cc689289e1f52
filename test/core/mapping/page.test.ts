import { expect } from 'chai';
import fc from 'fast-check';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import { createPageParser } from '../../../src/core/mapping/page.ts';
import { thrownBy } from '../../support/thrown.ts';
import { jsonText, numberLiteral, reasonOf } from './harness.ts';

type Reviver = (key: string, value: unknown, context: { readonly source: string }) => unknown;

/** The same text with each number that does not print as written as its source text, as the engine itself sees it. */
function exactly(json: string): unknown {
  const reviver: Reviver = (_key, value, { source }) =>
    typeof value === 'number' && (String(value) !== source || Math.abs(value) > Number.MAX_SAFE_INTEGER)
      ? source
      : value;
  return JSON.parse(json, reviver as Parameters<typeof JSON.parse>[1]);
}

describe('a page', () => {
  const ways: Readonly<Record<string, readonly string[]>> = {
    'data.things': ['', 'data'],
    'data.things || data.others': ['', 'data'],
    'not_null(data.others, data.things)': ['', 'data'],
    "not_null(data.others, '')": ['', 'data'],
    'not_null(others, data.things)': [''],
    'data.[things, others][]': ['', 'data'],
    'list[0].things': ['', 'list,0'],
    'list[-1].things': ['', 'list,-1'],
    'list[5].things || `[]`': [''],
  };
  for (const [items, expected] of Object.entries(ways)) {
    it(`keeps the objects that lead to its items: ${items}`, () => {
      const body = { data: { things: [{ a: 1 }], others: [] }, list: [{ things: [{ a: 2 }] }], others: [] };
      const { enclosing } = createPageParser({ items })(JSON.stringify(body));
      expect(enclosing.map(({ fields }) => fields.join())).to.deep.equal(expected);
    });
  }

  it('that is not JSON is upstream_invalid, and nothing of it is repeated', () => {
    for (const text of ['secret', '{"secret":', '\ufeff[]', '[1,]', '[01]', "['secret']", '[NaN]']) {
      const error = thrownBy(GatewayError, () => createPageParser({ items: '@' })(text));
      expect(error).to.include({ reason: 'the page is not JSON' }).and.have.property('cause', undefined);
    }
  });

  describe('of an empty list', () => {
    const EMPTY =
      '{"kind":"List","items":null} {} {"items":{}} {"items":""} {"items":[]} null [] {"total":0,"status":"ok"}';
    const SCIM = '{"schemas":["urn:ietf:params:scim:api:messages:2.0:ListResponse"],"totalResults":0,"itemsPerPage":0}';
    const XML = '{"@xmlns":"http://x.example","$":{"xmlns":"http://x.example"}}';
    const CODES = '{"errcode":0,"errmsg":"ok","severity":"NONE","responseCode":"SUCCESS","code":"000000","errors":0}';
    const DETAILS = '{"details":{"totalResult":"0","processedSequence":"7"}}';
    const PAGE = '{"_links":{},"page":{"size":20,"totalElements":0}}';
    for (const text of [...EMPTY.split(' '), '', ' \r\n', PAGE, SCIM, XML, CODES, DETAILS]) {
      it(`is ${JSON.stringify(text)}`, () => {
        expect(createPageParser({ items: 'items' })(text).items).to.deep.equal([]);
        expect(createPageParser({ items: 'items[?a].b' })(text).items).to.deep.equal([]);
      });
    }

    it('is also one whose list lies deeper', () => {
      for (const text of ['{"data":null}', '{"data":{}}', '{"data":{"items":null}}', '{}'])
        expect(createPageParser({ items: 'data.items' })(text).items, text).to.deep.equal([]);
    });

    it('is none if the reply says anything else, which the error names', () => {
      for (const [text, other] of [
        ['{"projects":[{"id":1},{"id":2}]}', 'projects has 2 items'],
        ['{"items":null,"projects":[{"id":1}]}', 'projects has 1 items; if it is another one, set allowEmpty: true'],
        ['{"data":{"projects":[{"id":1}]}}', 'data.projects has 1 items'],
        ['[{"id":1}]', 'the reply itself has 1 items'],
        ['{"message":"Choose a tenant"}', 'the reply has message instead; allowEmpty: true'],
        ['{"loginOk":false}', 'the reply has loginOk instead'],
        ['{"code":"ChooseTenant"}', 'the reply has code instead'],
        ['{"数据":{"user":"secret"}}', 'the reply has a member instead'],
        ['{"data":{"user":"secret"}}', 'the reply has data instead'],
        ['{"a b secret":"x"}', 'the reply has a member instead'],
        ['5', 'another value'],
        ['"secret"', 'another value'],
      ] as const) {
        const reason = reasonOf(() => createPageParser({ items: 'items' })(text));
        expect(reason, text)
          .to.match(/^the page has no list of items at the configured place, and /)
          .and.contain(other)
          .and.not.contain('secret');
        const allowed = () => createPageParser({ items: 'items', allowEmpty: true })(text).items;
        expect(allowed(), text).to.deep.equal([]);
      }
      expect(reasonOf(() => createPageParser({ items: 'data.items' })('{"data":"secret"}'))).to.contain(
        'another value',
      );
    });
  });

  it('may have an object in place of the list: one item, or items by their ids', () => {
    const one = '{"items":{"id":1.10,"name":"a"}}';
    const many = '{"items":{"x":{"name":"a","n":1.0},"y":{"id":"z"},"w":5}}';
    const item = createPageParser({ items: 'items', objectAs: 'item' });
    const items = createPageParser({ items: 'items', objectAs: 'items' });
    expect(item(one).items).to.deep.equal([{ id: 1.1, name: 'a' }]);
    expect(item(one).exactItems()).to.deep.equal([{ id: '1.10', name: 'a' }]);
    expect(items(many).items).to.deep.equal([{ id: 'x', name: 'a', n: 1 }, { id: 'z' }, { id: 'w', value: 5 }]);
    expect(items(many).exactItems()?.[0]).to.deep.equal({ id: 'x', name: 'a', n: '1.0' });
    for (const parse of [item, items]) {
      expect(parse('{"items":[{"id":2}]}').items).to.deep.equal([{ id: 2 }]);
      expect(parse('{"items":{}}').items).to.deep.equal([]);
    }
    expect(reasonOf(() => createPageParser({ items: 'items' })(one))).to.contain(
      'but an object, which objectAs can read',
    );
    expect(reasonOf(() => createPageParser({ items: 'a' })('{"a":{"b":[{}]}}'))).to.match(
      /objectAs.*, a\.b has 1 items/,
    );
  });

  it('may begin with a prefix that keeps scripts from running it', () => {
    for (const prefix of [")]}'\n", ")]}',\r\n", ')]}\n', 'while(1);', 'for (;;);', '{}&&', 'OK:\r\n'])
      expect(createPageParser({ items: 'items' })(`${prefix}{"items":[1]}`).items, prefix).to.deep.equal([1]);
  });

  it('is invalid if a member on the way to the list occurs twice', () => {
    const read = (items: string, text: string) => () => createPageParser({ items })(text);
    for (const [items, text] of [
      ['data', '{"data":[1],"data":[2]}'],
      ['data', '{"a":{"data":[3]},"data" : [1,{"data":2}], "b":"\\"data\\":","data":[2]}'],
      ['a.b', '{"a":{"b":[1]},"a":{"b":[2]}}'],
      ['a.b', '{"a":{"x":{"b":[]},"b":[1],"b":[2]}}'],
      ['a.b[?c].d', '{"a":{"b":[1],"b":[2]}}'],
    ] as const)
      expect(reasonOf(read(items, text)), text).to.contain('occurs twice');
    for (const [items, text] of [
      ['data', '{"data":[{"data":1},{"data":2}],"other":{"data":3}}'],
      ['data', '{"data":["data","data"],"note":"data"}'],
      ['data', '{"data":[{"data":1,"data":2}]}'],
      ['a.b', '{"a":{"c":{"b":1},"b":[]},"b":1,"d":{"b":2}}'],
      ['@', '[{"data":1,"data":2}]'],
    ] as const)
      expect(read(items, text), text).not.to.throw();
  });

  it('has exact items where some number does not print as it is written', () => {
    fc.assert(
      fc.property(fc.array(jsonText, { maxLength: 6 }), fc.constantFrom('', ' ', '\r\n'), (values, gap) => {
        const page = createPageParser({ items: '"the list"' })(`{"the list":[${gap}${values.join(`${gap},`)}]}`);
        expect(page.exactItems() ?? page.items).to.deep.equal(exactly(`[${values.join()}]`));
        expect(page.exactItems()).to.equal(page.exactItems());
      }),
      { numRuns: 2000 },
    );
  });

  it('has no exact items where every number prints as it is written', () => {
    const numbers = '0,-5,1.5,-0.25,0.000001,123456789012345,9007199254740991,1700000000.123456';
    const texts = '"1.10","\\"1.10","\\\\",{"1.0":"[1e3]"}';
    expect(createPageParser({ items: '@' })(`[${numbers},${texts}]`).exactItems()).to.equal(undefined);
    const inexact = ['-0', '1.10', '0.0', '1e3', '1E3', '0.0000001', '9007199254740992', '12345678901234567890'];
    for (const literal of inexact) {
      const page = createPageParser({ items: '@' })(`[${numbers},${texts},${literal}]`);
      expect(page.exactItems()?.at(-1)).to.equal(literal);
    }
  });

  it('has the exact item for each item, whatever the items expression selects by', () => {
    const expression = fc.constantFrom(
      ...['list[::-1]', 'list[?n > `1`]', 'not_null(none, list)', 'list[*].inner', '[list, list][]', '*[]'],
    );
    fc.assert(
      fc.property(expression, fc.array(numberLiteral, { maxLength: 6 }), (items, literals) => {
        const members = literals.map((n, key) => `{"key":${key},"n":${n},"inner":{"key":${key},"n":${n}}}`);
        const page = createPageParser({ items })(`{"list":[${members.join(',')}]}`);
        const exact = page.exactItems() ?? page.items;
        expect(exact).to.have.length(page.items.length);
        for (const [index, item] of (page.items as { key: number }[]).entries()) {
          const { key, n } = exact[index] as { key: number; n: number | string };
          expect(key).to.equal(item.key);
          expect(String(n)).to.equal(literals[key]);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('may have a text with millions of escapes', () => {
    const text = `{"kind":"list","list":[1.0],"text":"${'\\n'.repeat(4_500_000)}"}`;
    expect(createPageParser({ items: 'list' })(text).exactItems()).to.deep.equal(['1.0']);
  });

  it('takes time in proportion to its length, whatever it holds', () => {
    for (const value of ['"\\\\\\\\\\\\\\\\\\\\\\""', '1.10', '0.12345678901234567890', '"1.10"', '[[]]']) {
      const text = `[${Array(100_000).fill(value).join(',')},1.0]`;
      const begun = performance.now();
      expect(createPageParser({ items: '@' })(text).exactItems()).to.have.length(100_001);
      expect(performance.now() - begun).to.be.below(3000);
    }
  });

  it('fails if it contains errors, whatever else it has', () => {
    const codeOf = (body: object, errors?: string | null) => {
      const parse = createPageParser({ items: 'items', errors });
      const error = thrownBy(GatewayError, () => parse(JSON.stringify({ items: [], ...body })));
      if (error === undefined) return 'none';
      const { code, countsForBreaker, retryable, reason, detail } = error;
      expect([countsForBreaker, retryable, reason]).to.deep.equal([false, undefined, 'the page contains errors']);
      expect(detail).to.contain('answered with errors instead of a list').and.not.contain('secret');
      return code;
    };
    for (const found of [[{ message: 'secret' }], { a: 'secret' }, 'secret', true, 1]) {
      expect(codeOf({ found }, 'found'), JSON.stringify(found)).to.equal('upstream_failed');
      expect(codeOf({ found, items: null }, 'found')).to.equal('upstream_failed');
      expect(codeOf({ found }, null)).to.equal('none');
      expect(codeOf({ found })).to.equal('none');
      expect(codeOf({ meta: { found } }, 'found')).to.equal('none');
      expect(codeOf({ meta: { found } }, 'meta.found')).to.equal('upstream_failed');
    }
    for (const found of [[], {}, '', null, false, 0, undefined]) {
      expect(codeOf({ found }, 'found'), JSON.stringify(found)).to.equal('none');
    }
    expect(codeOf({ ok: false }, '!ok')).to.equal('upstream_failed');
  });
});

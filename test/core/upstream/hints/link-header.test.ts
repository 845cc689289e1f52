import { expect } from 'chai';
import fc from 'fast-check';
import LinkHeader from 'http-link-header';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { linkTo } from '../../../../src/core/upstream/hints/link-header.ts';
import { processorMsOf } from '../../../support/process/processor-time.ts';
import { SEEDED } from '../../../support/seed.ts';
import { thrownBy } from '../../../support/thrown.ts';

const next = (field: string | string[] | undefined) => linkTo('next', field);

const errorOf = (field: string | string[]) => thrownBy(GatewayError, () => next(field));

describe('the Link header', () => {
  it('names the next page by the first relation of its link, also in single quotes, which are none', () => {
    expect(next('</3>; rel=prev; rel=next')).to.equal(undefined);
    expect(next('</3>; rel=next; rel=prev')).to.equal('/3');
    expect(next("</1>; rel='prev', </3>; rel='next'; title=x")).to.equal('/3');
    for (const field of [undefined, '', [], '</1>; rel=prev', '</1>', '</1>; title=next', '</1>; rel="nextish prev"'])
      expect(next(field)).to.equal(undefined);
  });

  it('is refused where it is malformed, rather than read as if there were no next page', () => {
    for (const field of [
      ...[
        'https://api.example/x; rel=next',
        '</3',
        '</3> rel=next',
        '</3> </4>; rel=next',
        '</3>; rel=next</4>; rel=prev',
      ],
      ...['</3>; title="open; rel=next', '</3>; title="open\\"; rel=next', '</3>; title=op"en; rel=next'],
      ...['</3>; title="a"b; rel=next', '</3>; =x; rel=next', '</3>; rel=""; rel=next', '</3>; rel; rel=next'],
    ]) {
      expect(errorOf(field), field).to.include({ code: 'upstream_invalid', reason: 'the Link header is malformed' });
    }
  });

  it(`equals http-link-header, if that can parse it ${SEEDED}`, () => {
    const space = fc.constantFrom('', ' ', '\t');
    const relation = fc.constantFrom('next', 'NEXT', 'prev', 'last', 'nexts', 'https://rels.example/next');
    const rel = fc.oneof(
      relation.filter((name) => !name.includes('/')).map((name) => `rel=${name}`),
      fc.array(relation, { minLength: 1, maxLength: 3 }).map((names) => `rel="${names.join(' ')}"`),
    );
    const quoted = fc
      .string({ unit: fc.constantFrom('a', ',', ';', '<', '>', '=', ' ', '\\"', '\\\\', '\\a'), maxLength: 12 })
      .map((text) => `title="${text}"`);
    const parameter = fc.oneof(rel, quoted, fc.constantFrom('title=x', 'type="text/html"', 'hreflang=de', 'a=1'));
    const link = fc
      .tuple(fc.constantFrom('/1', '/2', '?a=1,2;3', ''), fc.array(fc.tuple(space, space, parameter), { maxLength: 4 }))
      .map(([uri, parameters]) => `<${uri}>${parameters.map(([a, b, text]) => `${a};${b}${text}`).join('')}`);
    const links = fc.array(fc.tuple(link, space), { maxLength: 4 });
    fc.assert(
      fc.property(links, (parts) => {
        const field = parts.map(([text, after]) => text + after).join(',');
        // It trips over space before a comma, and takes that before a semicolon for part of a value.
        const { refs } = LinkHeader.parse(field.replace(/[ \t]+(?=[,;]|$)/g, ''));
        const targets = new Set(refs.filter((ref) => ref.rel?.toLowerCase() === 'next').map((ref) => ref.uri));
        if (targets.size > 1)
          expect(errorOf(field)).to.have.property('reason', 'the Link header names several next pages');
        else expect(next(field)).to.equal([...targets][0]);
      }),
      { numRuns: 1000 },
    );
  });

  it('is none where the platform says in the link that the page has no results', () => {
    const link = (results: string) =>
      `</1>; rel="previous"; results="true", </2>; rel="next"; results="${results}"; cursor="0:2:0"`;
    expect(next(link('true'))).to.equal('/2');
    for (const results of ['false', 'FALSE', ' false ']) expect(next(link(results))).to.equal(undefined);
  });

  it('is decoded as UTF-8 where it is, so that its bytes are not encoded twice', () => {
    const onTheWire = (text: string) => Buffer.from(text, 'utf8').toString('latin1');
    expect(next(onTheWire('</list?q=Müller&page=2>; rel="next"'))).to.equal('/list?q=Müller&page=2');
    expect(next('</list?q=M\u00fcller>; rel="next"')).to.equal('/list?q=Müller');
  });

  const SIXTEEN_KB = 16_384;
  const long = (begin: string, repeated: string) =>
    begin + repeated.repeat(Math.floor((SIXTEEN_KB - begin.length) / repeated.length));

  /** Each was read in more than linear time by http-link-header, or by what stood around it. */
  const COSTLY: readonly string[] = [
    long('</1>; rel=next; title="', '\\"'),
    `${long('</1>; rel="', 'a ').slice(0, 8192)}"${Array.from({ length: 1000 }, (_, index) => `;a${index}=1`).join('')}`,
    long('</1>', ';a'),
    `</1>; title="x${' '.repeat(8000)}y"; a${'\t'.repeat(8000)}; rel=prev`,
    long('</1>; rel=next', ' '),
    `${long('</1>; rel=next', ', ')}x`,
    long('', '<'),
    long('', '<>,'),
  ];

  it('of 16 KB is read at once, whatever repeats in it', () => {
    for (const field of COSTLY) {
      // Only how long it takes is the matter here.
      const once = () => processorMsOf(() => thrownBy(GatewayError, () => next(field)));
      // The least of several: garbage of other tests may be collected within one of them.
      expect(Math.min(once(), once(), once(), once(), once()), field.slice(0, 40)).to.be.lessThan(40);
    }
  });
});

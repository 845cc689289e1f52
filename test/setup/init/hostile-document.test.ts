import { expect } from 'chai';
import { parse } from 'yaml';
import { describeApi, parseDocumentText } from '../../../src/setup/init/openapi-document.ts';
import { NAMES } from '../../support/resources.ts';
import { list, listing, loadProposed, object, openApi, parameter, proposedFor, text } from './proposed.ts';

const ESC = '\u001b[2J\u001b]0;x\u0007\u202e\u009b31m';
const YAML_BREAK = `x"'\n  evil: { a: b }\nupstreams: {}\n# : - \u2028resources: []`;

describe('a hostile OpenAPI document', () => {
  it('is bounded in depth', () => {
    let schema: object = text;
    for (let depth = 0; depth < 20_000; depth += 1) schema = { type: 'object', properties: { a: schema } };
    expect(proposedFor(openApi({ '/tools': listing(schema) })).offered).to.deep.equal([]);
    expect(parseDocumentText('['.repeat(20_000))).not.to.be.an('object');
    const deep = `${'['.repeat(4000)}${']'.repeat(4000)}`;
    expect(parseDocumentText(`openapi: 3.1.0\npaths: ${deep}`)).not.to.be.a('string');
    expect(parseDocumentText(`${'- '.repeat(4000)}a`)).not.to.be.a('string');
  }).timeout(30_000);

  it('whose references lead in a circle or multiply ends', () => {
    const half = (next: string) => ({
      allOf: Array.from({ length: 10 }, () => ({ $ref: `#/components/schemas/${next}` })),
    });
    const laughs = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`L${n}`, half(`L${n + 1}`)]));
    const schemas = { ...laughs, A: { $ref: '#/components/schemas/B' }, B: { $ref: '#/components/schemas/A' } };
    const paths = {
      '/projects': listing({ type: 'array', items: { $ref: '#/components/schemas/L0' } }),
      '/workflows': listing({ $ref: '#/components/schemas/A' }),
      '/tools': listing(list()),
    };
    const { written } = proposedFor(openApi(paths, { components: { schemas } }));
    expect(written.resources['tools']?.path).to.equal('/tools');
    expect(written.resources['projects']?.enabled).to.equal(false);
    expect(written.resources['workflows']?.enabled).to.equal(false);
  }).timeout(30_000);

  it('whose YAML aliases multiply is nothing', () => {
    const levels = Array.from({ length: 9 }, (_, n) => `l${n + 1}: &l${n + 1} [${Array(10).fill(`*l${n}`).join()}]`);
    expect(parseDocumentText(`l0: &l0 [x]\n${levels.join('\n')}\n`)).to.equal(undefined);
  }).timeout(30_000);

  it('with names of the prototype changes nothing but itself', async () => {
    const json = JSON.stringify(
      openApi({
        '/tools': listing(list({ constructor: text, toString: text }), {
          parameters: [parameter('__proto__', text, { required: true }), parameter('constructor')],
        }),
      }),
    ).replace('"paths":{', '"paths":{"__proto__":{"get":{"polluted":1}},"/constructor":{},"__proto__":{"polluted":1},');
    const proposed = proposedFor(json);
    expect(proposed.written.resources['tools']?.path).to.equal('/tools');
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
    await loadProposed(proposed);
    const yaml = 'openapi: 3.1.0\n__proto__: { polluted: 1 }\npaths: { __proto__: { get: {} } }\n';
    expect(describeApi(parseDocumentText(yaml))?.operations).to.deep.equal([]);
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  });

  for (const [name, nasty] of [
    ['a terminal obeys', ESC],
    ['YAML obeys', YAML_BREAK],
  ] as const) {
    it(`writes and prints nothing that ${name}`, async () => {
      const scheme = { type: 'apiKey', in: 'header', name: 'X-K', description: nasty };
      const security = { securitySchemes: { [nasty]: scheme } };
      const status = { type: 'string', enum: [nasty, 'in use'] };
      const item = list({ [nasty]: text, status, version: { description: nasty } });
      const parameters = [
        parameter('limit', { type: 'integer' }, { description: nasty }),
        parameter(nasty),
        parameter('kind', { type: 'string', default: nasty }, { required: true }),
      ];
      const paths = {
        '/tools': listing(item, { summary: nasty, description: nasty, operationId: nasty, parameters }),
        '/workflows': listing(item, { summary: nasty }),
        [`/a${nasty}/projects`]: listing(item),
      };
      const more = { info: { title: nasty, description: nasty }, components: security, security: [{ [nasty]: [] }] };
      const proposed = proposedFor(openApi(paths, more));
      expect(proposed.text).not.to.match(/[^\P{C}\n]|[\u2028\u2029]/u);
      expect(Object.keys(parse(proposed.text))).to.deep.equal(['upstreams', 'resources']);
      expect(Object.keys(proposed.written.resources)).to.deep.equal(NAMES);
      expect(Object.keys(proposed.written.upstreams)).to.have.length(1);
      await loadProposed(proposed);
    });
  }

  it('is proposed from without a thousand readings of each list', () => {
    const one = listing(object({ a: list() }));
    const paths = Object.fromEntries(Array.from({ length: 4000 }, (_, n) => [`/t${n}/tools`, one]));
    expect(proposedFor(openApi(paths)).text).to.contain('GET /t0/tools');
  }).timeout(60_000);
});

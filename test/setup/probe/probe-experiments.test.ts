import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { PROBE } from '../../../src/setup/input-bounds.ts';
import { madeUp } from '../../../src/setup/probe/request-experiments.ts';
import { json } from '../../support/platform/http-upstream.ts';
import { forToken, LIST, probed, probedOne, settings, TOKEN } from './probed.ts';

const ITEMS = Array.from({ length: 12 }, (_, index) => {
  return { id: `p-${index}`, name: `P ${index}`, open: index % 2 === 0 };
});

type Reply = { readonly status?: number; readonly body: object };

/** A platform that pages by `offset` and `limit`, filters by `open`, and accepts one token. `flaw` can replace its reply. */
function acme(
  flaw: (query: URLSearchParams, request: Parameters<RequestListener>[0]) => Reply | undefined = () => undefined,
): RequestListener {
  return (request, response) => {
    const { searchParams: query } = new URL(request.url ?? '/', 'http://a.example');
    const { status = 200, body } = flaw(query, request) ?? honest(query, request.headers.authorization);
    json(body, status)(request, response);
  };
}

function honest(query: URLSearchParams, authorization: string | undefined): Reply {
  if (authorization !== `Bearer ${TOKEN}`) return { status: 401, body: { error: 'who?' } };
  const fitting = query.has('open') ? ITEMS.filter(({ open }) => String(open) === query.get('open')) : ITEMS;
  return { body: page(fitting, query) };
}

function page(items: readonly object[], query: URLSearchParams) {
  const offset = Number(query.get('offset') ?? 0);
  const limit = Number(query.get('limit') ?? 100);
  return { list: items.slice(offset, offset + limit), total: items.length };
}

const BY_OFFSET = 'items: list, pagination: { kind: offset, total: total }';
const found = (report: Awaited<ReturnType<typeof probedOne>>) =>
  report.warnings.map((warning) => [warning.finding, 'setting' in warning ? warning.setting : '']);

describe('experiments of a probe', () => {
  it('find nothing where settings are right, and count their requests', async () => {
    const report = await probedOne(acme(), settings(`${BY_OFFSET}, query: { open: true }`));
    expect(report).to.deep.include({ ok: true, items: 6, warnings: [], notTried: [] });
    expect(report.extraRequests).to.be.greaterThan(0).and.at.most(PROBE.requests);
  });

  for (const kind of ['passthrough', 'header, name: X-Wrong', 'service, secret: s3cret-s3cret']) {
    it(`find a list that a made-up token can read: ${kind}`, async () => {
      const tokens = new Set<string>();
      const handler = acme((query, { headers }) => {
        tokens.add(`${headers.authorization} ${headers['x-wrong']}`);
        return { body: page(ITEMS.slice(0, 5), query) };
      });
      const yaml = `allowUnverifiedCallers: true\n${settings(BY_OFFSET, `, credential: { kind: ${kind} }`)}`;
      const report = await probedOne(handler, yaml);
      expect(found(report)).to.deep.equal([['public_list', 'upstreams.acme.credential']]);
      expect(tokens.size).to.equal(2);
      expect(report.ok).to.equal(true);
    });
  }

  for (const [list, items] of [
    ['an empty list', []],
    ['another list (2 items)', ITEMS.slice(0, 2)],
  ] as const) {
    it(`find a platform that answers a made-up token with ${list}`, async () => {
      const guest = acme((query, { headers }) =>
        headers.authorization === `Bearer ${TOKEN}` ? undefined : { body: page(items, query) },
      );
      const report = await probedOne(guest, settings(BY_OFFSET));
      expect(found(report)).to.deep.equal([['empty_for_all', 'upstreams.acme.credential']]);
      expect(report.warnings[0]?.text).to.contain(`a made-up token gets status 200 with ${list}`);
    });
  }

  it('find texts that values does not name, with those that were seen', async () => {
    const kinds = ['op', 'op', 'hand', 'cron'];
    const list = kinds.map((kind, index) => ({ id: `w${index}`, name: `W ${index}`, trigger: { kind } }));
    const yaml = `upstreams: { acme: { baseUrl: BASE } }
resources:
  projects: { enabled: false }
  tools: { enabled: false }
  workflows:
    { upstream: acme, path: /w, query: {}, ${LIST}, fields: { triggerType: { from: trigger.kind, values: { hand: MANUAL } } } }`;
    const { ok, warnings } = await probedOne(forToken(json({ list })), yaml);
    const text =
      '3 of 4 items have texts that resources.workflows.fields.triggerType.values does not name: "op", "cron"; they are served as they are';
    expect(warnings.filter(({ finding }) => finding === 'value_unmapped')).to.deep.equal([
      { finding: 'value_unmapped', setting: 'resources.workflows.fields.triggerType.values', text },
    ]);
    expect(ok).to.equal(true);
  });

  it('find a total that contradicts the list where its check is off, which fails with --strict', async () => {
    const handler = forToken(json({ list: ITEMS, total: 40 }));
    const yaml = settings('items: list, pagination: { kind: none, ignoreSigns: [total, fullPage] }');
    const report = await probedOne(handler, yaml);
    expect(found(report)).to.deep.equal([['check_off', 'resources.projects.pagination.ignoreSigns']]);
    expect((await probed(handler, yaml, {}, { strict: true })).ok).to.equal(false);
  });

  it('send no made-up token where the platform is given none', async () => {
    const yaml = `allowUnverifiedCallers: true\n${settings(BY_OFFSET, ', credential: { kind: none }')}`;
    const tokens = new Set<string | undefined>();
    const handler = acme((query, { headers }) => {
      tokens.add(headers.authorization);
      return { body: page(ITEMS, query) };
    });
    expect(found(await probedOne(handler, yaml))).to.deep.equal([]);
    expect([...tokens]).to.deep.equal([undefined]);
  });

  const ignoring: readonly (readonly [string, string, (query: URLSearchParams) => void, string])[] = [
    ['the page size', BY_OFFSET, (query) => query.delete('limit'), 'pagination.sizeParam'],
    ['the offset', BY_OFFSET, (query) => query.delete('offset'), 'pagination.offsetParam'],
    ['an entry of query', `${BY_OFFSET}, query: { opened: true }`, () => {}, 'query.opened'],
  ];
  for (const [what, yaml, ignore, setting] of ignoring) {
    it(`find that the platform ignores ${what}`, async () => {
      const handler = acme((query, { headers }) => {
        ignore(query);
        return honest(query, headers.authorization);
      });
      const report = await probedOne(handler, settings(yaml));
      expect(found(report)).to.deep.equal([['parameter_ignored', `resources.projects.${setting}`]]);
    });
  }

  const unread: readonly (readonly [string, string, boolean])[] = [
    ['a flag is a warning', 'opened: true', true],
    ['an order', 'sort: size', true],
    ['all', 'scope: ALL', true],
    ['a value that would fit none fails', 'state: installed', false],
  ];
  for (const [what, entry, isFine] of unread) {
    it(`with strict, of entries of query that do nothing: ${what} (${entry})`, async () => {
      const yaml = settings(`${BY_OFFSET}, query: { ${entry} }`);
      const { ok, resources } = await probed(acme(), yaml, {}, { strict: true });
      expect(resources[0]?.warnings.map(({ finding }) => finding)).to.deep.equal(['parameter_ignored']);
      expect(ok).to.equal(isFine);
    });
  }

  it('find a total that counts the page', async () => {
    const handler = acme((query, { headers }) => {
      const { status = 200, body } = honest(query, headers.authorization);
      const list: readonly unknown[] = 'list' in body ? [body.list].flat() : [];
      return { status, body: { list, sum: list.length } };
    });
    const yaml = 'items: list, errors: null, pagination: { kind: offset, total: sum }';
    const report = await probedOne(handler, settings(yaml));
    expect(found(report)).to.deep.equal([['pages_incomplete', 'resources.projects.pagination']]);
  });

  it('find an empty list', async () => {
    const report = await probedOne(forToken(json({ list: [], total: 0 })), settings(BY_OFFSET));
    expect(found(report)).to.deep.equal([['list_empty', 'resources.projects.items']]);
    const meant = await probedOne(forToken(json({ list: [], total: 0 })), settings(`${BY_OFFSET}, allowEmpty: true`));
    expect(found(meant)).to.deep.equal([]);
  });

  it('find how the platform writes an empty list', async () => {
    const empty: RequestListener = (_request, response) => response.writeHead(204).end();
    for (const [form, handler] of [
      ['[]', json({ list: [] })],
      ['null', json({ list: null })],
      ['an absent member', json({ page: 1 })],
      ['{}', json({ list: {} })],
      ['an empty text', json({ list: '' })],
      ['no body', empty],
      ['status 404', json({}, 404)],
    ] as const) {
      const report = await probedOne(forToken(handler), settings(`${LIST}, notFound: empty`));
      expect(report.warnings[0]?.text, form).to.contain(`the list is empty (${form})`);
    }
  });

  it('find a platform that answers a made-up token as one without items', async () => {
    const items = json({ list: ITEMS });
    const empty: RequestListener = (_request, response) => response.writeHead(204).end();
    for (const none of [empty, json({}, 404)]) {
      const guest: RequestListener = (request, response) =>
        (request.headers.authorization === `Bearer ${TOKEN}` ? items : none)(request, response);
      const report = await probedOne(guest, settings(`${LIST}, notFound: empty`));
      expect(found(report)).to.deep.include(['empty_for_all', 'upstreams.acme.credential']);
    }
  });

  it('find a default query on a custom path', async () => {
    const yaml = `upstreams: { acme: { baseUrl: BASE } }
resources:
  projects: { enabled: false }
  workflows: { upstream: acme, path: /flows, ${BY_OFFSET} }
  tools: { enabled: false }
`;
    expect(found(await probedOne(acme(), yaml))).to.deep.equal([['default_query', 'resources.workflows.query']]);
  });

  it('find a default in every item', async () => {
    const yaml = `${BY_OFFSET}, fields: { description: { from: abuot, default: none } }`;
    const report = await probedOne(acme(), settings(yaml));
    expect(found(report)).to.deep.equal([['default_hides_field', 'resources.projects.fields.description']]);
    const nulls = json({ list: [{ id: 'a', name: 'A', about: { text: null } }], total: 1 });
    for (const [from, count] of [
      ['about.text', 0],
      ['about.txt', 1],
    ] as const) {
      const fields = `fields: { description: { from: ${from}, default: none } }`;
      const { warnings } = await probedOne(forToken(nulls), settings(`${BY_OFFSET}, ${fields}`));
      expect(warnings.filter(({ finding }) => finding === 'default_hides_field')).to.have.lengthOf(count);
    }
  });

  it('report what could not be tried, which is a failure with strict', async () => {
    const handler = acme((query, { headers }) =>
      headers.authorization === `Bearer ${TOKEN}` ? { body: page(ITEMS, query) } : { status: 503, body: {} },
    );
    const { ok, resources } = await probed(handler, settings(BY_OFFSET), {}, { strict: true });
    expect(resources[0]?.notTried).to.deep.equal([{ experiment: 'made-up token', why: 'answered with status 503' }]);
    expect([ok, resources[0]?.ok]).to.deep.equal([false, true]);
  });

  it('take no more requests than their bound', async () => {
    const query = Array.from({ length: 20 }, (_, index) => `q${index}: x`).join(', ');
    const report = await probedOne(acme(), settings(`${BY_OFFSET}, query: { ${query} }`));
    expect(report.extraRequests).to.be.at.most(PROBE.requests);
    expect(report.notTried.map(({ experiment }) => experiment)).to.deep.equal(['query']);
  });

  it('send no POST that may write, unless that is allowed or declared harmless', async () => {
    let posts = 0;
    const handler = acme((_query, request) => {
      posts += 1;
      expect(request.method).to.equal('POST');
      return { body: { list: [ITEMS[0]], total: 1 } };
    });
    const post = 'items: list, method: POST, pagination: { kind: none }';
    const unread = await probedOne(handler, settings(post));
    expect([posts, unread.ok]).to.deep.equal([0, false]);
    expect(unread.notRead).to.contain('it needs a POST, which may write: --allow-post sends it');
    expect((await probedOne(handler, settings(post), {}, { allowPost: true })).ok).to.equal(true);
    expect((await probedOne(handler, settings(`${post}, retryPost: true`))).ok).to.equal(true);
    expect(posts).to.be.greaterThan(1);
  });

  const POST = 'method: POST, items: list, body: { page: { from: 0, to: 100, limit: 100 } }';
  const BY_BODY = `${POST}, pagination: { kind: offset, offsetParam: /page/from, sizeParam: /page/limit, total: total }`;
  const BY_END = `${POST}, pagination: { kind: offset, offsetParam: /page/from, sizeParam: null, endParam: /page/to, total: total }`;
  const posted: readonly (readonly [string, string, string[], (string | undefined)?])[] = [
    ['find nothing in a list that is posted for', BY_BODY, []],
    ['find nothing in a list that is posted for, by the place of its end', BY_END, []],
    ['find that a place in the body for the offset is ignored', BY_BODY, ['from'], 'pagination.offsetParam'],
    ['find that a place in the body for the size is ignored', BY_BODY, ['limit', 'to'], 'pagination.sizeParam'],
    ['find that a place in the body for the end is ignored', BY_END, ['limit', 'to'], 'pagination.endParam'],
  ];
  for (const [what, yaml, ignored, setting] of posted) {
    it(`${what}, with --allow-post`, async () => {
      const handler: RequestListener = async (request, response) => {
        if (request.headers.authorization !== `Bearer ${TOKEN}`) return json({}, 401)(request, response);
        const { from = 0, to = 100, limit = 100 } = JSON.parse(await text(request)).page;
        const start = ignored.includes('from') ? 0 : from;
        const end = ignored.includes('to') || yaml !== BY_END ? 100 : to;
        const size = ignored.includes('limit') ? 100 : limit;
        json({ list: ITEMS.slice(start, Math.min(end, start + size)), total: 12 })(request, response);
      };
      const report = await probedOne(handler, settings(yaml), {}, { allowPost: true });
      expect(report).to.include({ ok: true, items: 12 });
      const expected = setting === undefined ? [] : [['parameter_ignored', `resources.projects.${setting}`]];
      expect(found(report)).to.deep.equal(expected);
    });
  }

  it('make up a token of the same length', () => {
    expect(madeUp('gHp_1-Zz.9')).to.match(/^\w{3}_\w-\w\w\.\w$/);
  });

  it('read with credential.from, by a variable of the environment that is shown nowhere', async () => {
    const handler: RequestListener = (request, response) => {
      const { 'x-key': name = '' } = request.headers;
      json({ list: [{ id: 'a', name }] }, name === 'other-secret' ? 200 : 401)(request, response);
    };
    const from = ', credential: { kind: header, name: X-Key, format: "{token}", from: X-Acme-Token }';
    const yaml = settings(LIST, from);
    const report = await probedOne(handler, yaml, { PORTICO_TOKEN: '', PORTICO_HEADER_X_ACME_TOKEN: 'other-secret' });
    expect(report).to.deep.include({ ok: true, items: 1, warnings: [] });
    expect(JSON.stringify(report)).not.to.contain('other-secret');
    const missing = await probedOne(handler, yaml, { PORTICO_TOKEN: '' }).catch(String);
    expect(missing).to.contain('environment variable PORTICO_HEADER_X_ACME_TOKEN, which is not set');
  });
});

import { writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { printReport } from '../../../src/setup/probe/probe-report.ts';
import { createSafeText, safeJson } from '../../../src/setup/probe/safe-text.ts';
import { anyText } from '../../support/any-text.ts';
import { json } from '../../support/platform/http-upstream.ts';
import { newFolder } from '../../support/process/process.ts';
import { LIST, probed, settings, TOKEN } from './probed.ts';

/** All that a probe may print: for a person, and as JSON. */
async function printed(handler: RequestListener, yaml = settings(LIST), env = {}): Promise<string> {
  const report = await probed(handler, yaml, env);
  return printReport(report) + JSON.stringify(report, null, 2);
}

describe('a probe keeps from the terminal', () => {
  for (const [how, credential] of [
    ['a bearer token', ''],
    ['a password', 'user: portico, '],
    ['a key in a form of its own', 'name: X-Api-Key, format: "Key {token};", '],
  ]) {
    it(`a secret of Portico's own that is sent as ${how}, wherever a platform echoes it`, async () => {
      const folder = await newFolder();
      const secret = 'canary-c4n4ry-of-the-deployment';
      await writeFile(join(folder, 'secret'), `${secret}\n`);
      const basic = Buffer.from(`portico:${secret}`).toString('base64');
      const echo = `${secret} Basic ${basic} Bearer ${secret}`;
      const list = [{ id: secret, name: echo, [secret]: [basic] }];
      const handlers = [
        json({ list, [secret]: echo }),
        json({ error: echo }, 401, {
          'www-authenticate': `Basic ${basic}, Bearer ${secret}`,
          location: `/${secret}`,
        }),
        ...[403, 400].map((status) => json({ error: echo }, status)),
      ];
      for (const from of [`file: ${join(folder, 'secret')}`, `secret: ${secret}`]) {
        const upstream = `, credential: { kind: service, ${credential}${from} }`;
        const yaml = `allowUnverifiedCallers: true\n${settings(LIST, upstream)}`;
        for (const handler of handlers) {
          const shown = await printed(handler, yaml);
          for (const part of [secret, secret.slice(0, 12)]) expect(shown).not.to.contain(part);
          if (credential?.startsWith('user') === true) expect(shown).not.to.contain(basic);
          expect(shown).to.contain('[credential]').and.contain('credential');
        }
      }
    });
  }

  it('the token, wherever a platform echoes it', async () => {
    const echo = `${TOKEN} Bearer ${TOKEN} ${encodeURIComponent(`${TOKEN}==`)} ${TOKEN.slice(0, 4)}\u0000${TOKEN.slice(4)}`;
    const list = [{ id: TOKEN, name: echo, [TOKEN]: [TOKEN], description: `${'x'.repeat(155)}${TOKEN}` }];
    const handlers = [
      json({ list, [TOKEN]: TOKEN, next: TOKEN }),
      json({ [TOKEN]: [{ id: TOKEN }] }, 200, { 'content-type': TOKEN }),
      json({ error: echo }, 401, { 'www-authenticate': `Bearer ${TOKEN}`, location: `/${TOKEN}` }),
      json({ error: `${'x'.repeat(295)}${TOKEN}` }, 400),
    ];
    for (const handler of handlers) {
      const shown = await printed(handler);
      // Half of it would do for a guess.
      for (const part of [TOKEN, TOKEN.slice(0, 12)]) expect(shown).not.to.contain(part);
      expect(shown).to.contain('[credential]');
    }
  });

  it('secrets of settings, in headers, query and path', async () => {
    const env = { TENANT: 'not-for-logs', PATH_KEY: 'a1b2c3d4e5f6a7b8c9d0e1f2' };
    const yaml = `upstreams: { acme: { baseUrl: "BASE/\${PATH_KEY}", headers: { X-Tenant: "\${TENANT}", X-Secret: open-sesame, X-Plain: unremarkable, Prefer: plain } } }
resources:
  projects: { upstream: acme, pagination: { kind: none }, query: { s: '\${TENANT} two', l: [a, '\${TENANT}'], q: plain } }
  workflows: { enabled: false }
  tools: { enabled: false }`;
    const handler: RequestListener = (request, response) => json(request.headers, 400)(request, response);
    const shown = await printed(handler, yaml, env);
    for (const secret of [...Object.values(env), 'open-sesame', 'unremarkable']) {
      expect(shown).not.to.contain(secret);
    }
    expect(shown)
      .to.contain('/[credential]/v1/projects?s=[masked]&l=[masked]&l=[masked]&q=plain')
      .and.contain('prefer: plain')
      .and.contain('x-plain: "[masked]"')
      .and.contain('x-tenant: "[masked]"');
  });

  it('secrets in the query and path of parents and of joined lists', async () => {
    const env = { TENANT: 'not-for-logs', PATH_KEY: 'a1b2c3d4e5f6a7b8c9d0e1f2' };
    const from = "path: '/l/${PATH_KEY}', query: { s: '${TENANT}', q: plain }";
    const handler: RequestListener = (request, response) => json({ url: request.url }, 400)(request, response);
    for (const own of [
      `lists: [{ ${from} }]`,
      `path: '/x/{parent.id}', each: { ${from} }`,
      'path: "/{parent.id}", each: tools',
    ]) {
      const yaml = `upstreams: { acme: { baseUrl: BASE } }
resources:
  projects: { upstream: acme, pagination: { kind: none }, ${own} }
  workflows: { enabled: false }
  tools: { upstream: acme, enabled: false, ${from}, pagination: { kind: none } }`;
      const shown = await printed(handler, yaml, env);
      for (const secret of Object.values(env)) expect(shown, own).not.to.contain(secret);
      expect(shown, own).to.contain('?s=[masked]&q=plain');
    }
  });

  it('a secret of settings that is too short to be looked for, in its header, with a token and without', async () => {
    const yaml = settings(LIST, ', credential: { kind: none }, headers: { X-Key: s3cr3t }');
    for (const env of [{}, { PORTICO_TOKEN: '' }]) {
      const shown = await printed(json({ list: [] }), `allowUnverifiedCallers: true\n${yaml}`, env);
      expect(shown).to.contain('x-key: "[masked]"').and.not.contain('s3cr3t');
    }
  });

  it('a short secret of settings beside a value of the caller', async () => {
    const headers = "forwardHeaders: [X-Tenant], headers: { X-Key: 's3-{header.X-Tenant}' }";
    const yaml = settings(`${LIST}, query: { key: 's4-{header.X-Tenant}' }`, `, ${headers}`);
    const shown = await printed(json({ list: [] }), yaml, { PORTICO_HEADER_X_TENANT: 'blue' });
    expect(shown)
      .to.contain('x-key: "[masked]"')
      .and.contain('?key=[masked]')
      .and.not.match(/s[34]-/);
  });

  it('what a terminal obeys, and more than a person reads', async () => {
    const hostile = '\u001b]0;owned\u0007\u001b[2J\u009b31m\r\n\u202eevil\u2028\ud800';
    const list = [
      { id: 'a', name: hostile, [hostile]: hostile, deep: { a: { b: { c: { d: {} } } } }, long: 'x'.repeat(9999) },
    ];
    const wide = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, index]));
    for (const handler of [
      json({ list: [{ ...list[0], ...wide }], [hostile]: hostile }),
      json({ [hostile]: [{ id: 'a', [hostile]: 1 }] }),
      json({ error: hostile.repeat(1000) }, 500),
    ]) {
      const shown = await printed(handler);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
      expect(shown).not.to.match(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u2028]/);
      expect(shown.length).to.be.lessThan(16_000);
      for (const line of shown.split('\n')) expect(line.length).to.be.lessThan(1000);
    }
  });
});

describe('a safe text', () => {
  it('is one line of so many characters at most, without what a terminal obeys, whatever the text', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 100 }), fc.integer({ min: 1, max: 50 }), (text, max) => {
        const shown = createSafeText([TOKEN])(text, max);
        expect(shown.length).to.be.at.most(max);
        expect(shown).not.to.match(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      }),
    );
  });

  it('never holds a secret, whatever surrounds or interrupts it', () => {
    const noise = fc.string({ unit: fc.constantFrom('a', ' ', '\n', '\u0000', '\u200b', '-', '=') });
    const hidden = fc.constantFrom('', '\u0000', '\u200b', '\u001b');
    fc.assert(
      fc.property(noise, hidden, noise, fc.nat(40), (before, between, after, max) => {
        const text = `${before}${TOKEN.slice(0, 9)}${between}${TOKEN.slice(9)}${after}`;
        expect(createSafeText([TOKEN])(text, max)).not.to.contain(TOKEN.slice(0, 5));
      }),
    );
  });

  it('is the text itself where nothing is wrong with it', () => {
    expect(createSafeText([TOKEN])('Überwachung 監視 🛡', 100)).to.equal('Überwachung 監視 🛡');
  });
});

describe('JSON that is shown', () => {
  it('is bounded in all directions, whatever it is', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        expect(JSON.stringify(safeJson(value, createSafeText([]))).length).to.be.lessThan(200_000);
      }),
    );
  });

  it('shows how much is left out', () => {
    const shown = safeJson({ list: [1, 2, 3, 4, 5], deep: { a: { b: { c: { d: 1 } } } } }, createSafeText([]));
    expect(shown).to.deep.equal({ list: [1, 2, 3, '… 2 more'], deep: { a: { b: { c: '…' } } } });
  });
});

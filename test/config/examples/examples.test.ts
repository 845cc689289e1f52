import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import nock from 'nock';
import { parse } from 'yaml';
import { loadSettings } from '../../../src/composition.ts';
import { type RunningGateway, startGateway, TOKEN } from '../../support/gateway.ts';
import { useNock } from '../../support/nock.ts';

const root = new URL('../../../', import.meta.url);
const text = (path: string) => readFileSync(new URL(path, root), 'utf8');
const folder = 'config/examples/';
const files = readdirSync(new URL(folder, root));

/** One request to the platform, with its reply. */
interface Exchange {
  readonly request: string;
  /** @default that of the recording */
  readonly platform?: string;
  /** Of a login, in place of the header of the other requests. */
  readonly authorization?: string;
  /** Members of the posted body; of a text, a part. */
  readonly post?: Readonly<Record<string, unknown>>;
  /** @default 200 */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly reply?: nock.Body;
}

/** The replies of a platform, and the reads that they lead to: `test/config/examples/<name>.yaml`. */
interface Recording {
  readonly environment: Record<string, string>;
  readonly platform: string;
  /** Sent with each request; `{token}` is the caller's token. */
  readonly headers: Readonly<Record<string, string>>;
  readonly reads: readonly {
    readonly title: string;
    readonly resource: string;
    readonly exchanges: readonly Exchange[];
    readonly items?: readonly Readonly<Record<string, string>>[];
    readonly error?: { readonly status: number; readonly code: string; readonly retryAfterSeconds?: number };
  }[];
}

describe('the examples', () => {
  for (const file of files) {
    const yaml = text(folder + file);
    const header = yaml.slice(0, yaml.indexOf('\n\n'));

    it(`list at their head the environment variables that they use, and no others: ${file}`, () => {
      const used = [...yaml.matchAll(/\$\{(\w+)/g)].map(([, name]) => name);
      const listed = [...header.matchAll(/^# {3}([A-Z][A-Z0-9_]+) /gm)].map(([, name]) => name);
      expect(new Set(used)).to.deep.equal(new Set(listed));
    });

    it(`name at their head the description of the platform's API and its version: ${file}`, () => {
      const [, described = ''] = /^# (Described (?:in|at) [\s\S]*?)\n#\n/m.exec(header) ?? [];
      expect(described).to.match(/\d{4}-\d\d-\d\d|\b[0-9a-f]{7}\b|\bAPI v\d\b/);
    });
  }

  it('are those of docs/platforms.md, all and no others', () => {
    const listed = text('docs/platforms.md').matchAll(/^\| `([\w-]+\.yaml)` \|/gm);
    expect([...listed].map(([, file]) => file).sort()).to.deep.equal(files.sort());
  });
});

for (const file of files) {
  const recording: Recording = parse(text(`test/${folder}${file}`));

  describe(`config/examples/${file}`, () => {
    const unmatched: string[] = [];
    let running: RunningGateway;
    const onNoMatch = ({ url }: Request) => {
      // To Portico itself, or to the collector of another test file, which its tracer may still be trying.
      if (new URL(url).hostname !== '127.0.0.1') unmatched.push(url);
    };

    useNock();
    before(() => nock.emitter.on('no match', onNoMatch));
    after(() => nock.emitter.off('no match', onNoMatch));

    beforeEach(async () => {
      const { config } = await loadSettings(fileURLToPath(new URL(folder + file, root)), recording.environment);
      const http = { ...config.http, port: 0 };
      running = await startGateway({
        ...config,
        http,
        // Tokens of the tests are no JWTs.
        verification: undefined,
        allowUnverifiedCallers: true,
        admin: { enabled: false },
        log: { level: 'silent' },
        confirmation: { enabled: false },
      });
    });

    afterEach(async () => {
      await running.gateway.close();
      const pending = nock.pendingMocks();
      nock.cleanAll();
      expect({ pending, unmatched }).to.deep.equal({ pending: [], unmatched: [] });
    });

    for (const { title, resource, exchanges, items, error } of recording.reads) {
      it(title, async () => {
        for (const exchange of exchanges) mock(recording, exchange);
        const response = await running.read(resource);
        const body = await response.json();
        if (error === undefined) expect(body).to.deep.equal(items);
        else expect(body).to.include(error);
        expect(response.status).to.equal(error?.status ?? 200);
        if (error?.retryAfterSeconds !== undefined)
          expect(response.headers.get('retry-after')).to.equal(`${error.retryAfterSeconds}`);
      });
    }

    it('leaves only those fields empty that docs/platforms.md names', () => {
      const filled = new Map<string, boolean>();
      for (const { resource, items = [] } of recording.reads) {
        for (const [field, value] of items.flatMap((item) => Object.entries(item))) {
          const key = `${field} of ${resource}`;
          filled.set(key, filled.get(key) === true || value !== '');
        }
      }
      const empty = [...filled].filter(([, isFilled]) => !isFilled).map(([field]) => field);
      expect(empty).to.have.members(documentedEmpty(file));
    });
  });
}

/** Mocks one exchange. */
function mock({ platform, headers }: Recording, exchange: Exchange): void {
  const { request, authorization, post, status = 200, headers: sent, reply } = exchange;
  const [method = '', target = ''] = request.split(' ');
  const all = Object.entries({
    ...headers,
    ...(authorization && { authorization }),
    ...(post && { 'content-type': 'application/json' }),
  });
  const reqheaders = Object.fromEntries(all.map(([name, value]) => [name, value.replace('{token}', TOKEN)]));
  const badheaders = 'authorization' in headers ? [] : ['authorization'];
  const isPosted = (body: Readonly<Record<string, unknown>>) => {
    for (const [name, value] of Object.entries(post ?? {})) {
      if (typeof value === 'string') expect(body[name]).to.contain(value);
      else expect(body[name]).to.deep.equal(value);
    }
    return true;
  };
  nock(exchange.platform ?? platform, { reqheaders, badheaders })
    .intercept(target, method, post && isPosted)
    .reply(status, reply, sent);
}

/** The fields that docs/platforms.md says the platform of an example cannot fill, as `createTime of projects`. */
function documentedEmpty(file: string): string[] {
  const row = new RegExp(`^\\| \`${file}\` \\| (nothing|[^|]* of [^|]*) \\|`, 'm');
  const [, listed = ''] = row.exec(text('docs/platforms.md')) ?? [];
  expect(listed, `what ${file} cannot fill, in docs/platforms.md`).not.to.equal('');
  if (listed === 'nothing') return [];
  return listed.split('; ').flatMap((part) => {
    const [fields = '', resource = ''] = part.split(' of ');
    return [...fields.matchAll(/`(\w+)`/g)].map(([, field]) => `${field} of ${resource}`);
  });
}

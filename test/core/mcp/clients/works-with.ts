import { expect } from 'chai';
import { TOKEN } from '../../../support/gateway.ts';
import type { Client, Server, Session, ToldError } from './client.ts';
import type { Served } from './served.ts';

const NAMES = ['projects', 'workflows', 'tools'];
const URIS = NAMES.map((name) => `platform://${name}`);

/** What each revision calls a resource that there is not. */
const RESOURCE_UNKNOWN = { '2026-07-28': -32602, '2025-11-25': -32002 };

/** The code of JSON-RPC for a token that a platform refuses. */
const CREDENTIAL_REJECTED = 401;

/** Tests of one client, over both transports. `served` is what it connects to. */
export function worksWith(client: Client, served: () => Served): void {
  describe(`${client.name}, over HTTP`, () => {
    const session = connected(client, () => served().http(TOKEN));
    works(client, 'http', session, served);

    isToldOfARefusedToken(client, () => served().http('another-token'));

    it('stays connected when the platform rejects the token', async () => {
      const other = await client.connect(served().http('another-token'));
      try {
        await errorOf(client, other.read('platform://projects'));
        expect(await other.list()).to.have.length(3);
      } finally {
        await other.close();
      }
    });

    it('gets 401 without a token', async () => {
      const { status } = await refused(client, served().http(), ({ list }) => list());
      expect(status).to.equal(401);
    });
  });

  describe(`${client.name}, over stdio`, () => {
    const session = connected(client, () => served().stdio(TOKEN));
    works(client, 'stdio', session, served);

    isToldOfARefusedToken(client, () => served().stdio('another-token'));
  });
}

function isToldOfARefusedToken(client: Client, server: () => Server): void {
  it('gets the name of the upstream that rejects the token', async () => {
    const told = await refused(client, server(), ({ read }) => read('platform://tools'));
    expect(told.message).to.contain('rejected the access token that Portico received').and.contain('(upstream tools)');
    tells(told, CREDENTIAL_REJECTED, 'credential_rejected');
  });
}

/** Connects before the tests of a `describe`, and closes after them. */
function connected(client: Client, server: () => Server): () => Session {
  let session: Session;

  before(async () => {
    session = await client.connect(server());
  });

  after(() => session?.close());

  return () => session;
}

function works(client: Client, kind: Server['kind'], session: () => Session, served: () => Served): void {
  if (client.tellsRevision.includes(kind)) {
    it('negotiates its newest revision', () => {
      expect(session().revision).to.equal(client.revision);
    });
  }

  it('lists the three resources', async () => {
    const definitions = (await session().list()).map(({ uri, mimeType }) => ({ uri, mimeType }));
    expect(definitions).to.deep.equal(URIS.map((uri) => ({ uri, mimeType: 'application/json' })));
  });

  it('reads each of them with the bytes of the HTTP read', async () => {
    const bodies = await Promise.all(NAMES.map((name) => served().read(name)));
    const contents = await Promise.all(URIS.map((uri) => session().read(uri)));
    expect(contents).to.deep.equal(bodies.map((body) => [body]));
  });

  it('gets the same items from a tool', async () => {
    const [text] = await session().call('list_installed_workflows', { limit: 100 });
    const shown = (await served().read('workflows')).replace(
      /[\u2028\u2029]/g,
      (one) => `\\\\u{${one.charCodeAt(0).toString(16)}}`,
    );
    expect(JSON.parse(String(text)).items).to.deep.equal(JSON.parse(shown));
  });

  it('gets the list of resources with the error for an unknown one', async () => {
    const told = await errorOf(client, session().read('platform://secrets'));
    for (const uri of URIS) expect(told.message).to.contain(uri);
    tells(told, RESOURCE_UNKNOWN[client.revision], 'resource_unknown');
  });
}

/** Returns the error of a client whose server rejects `ask` or the connection. */
function refused(client: Client, server: Server, ask: (session: Session) => Promise<unknown>): Promise<ToldError> {
  const asked = async () => {
    const session = await client.connect(server);
    try {
      await ask(session);
    } finally {
      await session.close();
    }
  };
  return errorOf(client, asked());
}

async function errorOf(client: Client, asked: Promise<unknown>): Promise<ToldError> {
  let told: ToldError | undefined;
  await asked.catch((error: unknown) => {
    told = client.errorOf(error);
  });
  if (told === undefined) throw new Error('it was not refused');
  return told;
}

/** Holds an error to its code and to that of the error table, where the client passes them on. */
function tells({ code, data }: ToldError, expected: number, word: string): void {
  if (code === undefined) return;
  expect(code).to.equal(expected);
  expect(data).to.include({ code: word });
}

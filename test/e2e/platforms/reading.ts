import { expect } from 'chai';
import { stringify } from 'yaml';
import { runPortico, writeSettings } from '../../support/process/process.ts';
import { newFolder, startServing } from '../../support/process/serving.ts';

/** Settings of a Portico that listens on a free port and has no admin listener. */
const LISTENERS = { http: { port: 0 }, admin: { enabled: false }, log: { level: 'info' } };

const textOf = (settings: object) => stringify({ ...settings, ...LISTENERS });

/** What `check --probe` prints about a platform, and the code with which it ends. */
export async function probe(settings: object, token: string, env: Record<string, string> = {}) {
  const file = await writeSettings(await newFolder(), textOf(settings));
  const { code, stdout, stderr } = await runPortico(['check', '--probe', file], { ...env, PORTICO_TOKEN: token }).ended;
  return { code, printed: stdout + stderr };
}

/** Starts `portico serve`, and returns how to read from it. */
export async function serve(settings: object, env: Record<string, string> = {}) {
  const { url } = await startServing(textOf(settings), env);
  return async (name: string, token: string) => {
    const response = await fetch(`${url}/mcp/v1/resources/read?uri=platform://${name}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return { status: response.status, body: await response.json() };
  };
}

type Read = Awaited<ReturnType<typeof serve>>;

/** Declares what holds of each platform. It is killed by the last test. `others`: what is then read anew. */
export function standsBehindPortico(
  start: () => Promise<Read>,
  token: () => string,
  kill: () => Promise<unknown>,
  others: readonly [name: string, token?: string],
) {
  const codeOf = async (answer: ReturnType<Read>) => {
    const { status, body } = await answer;
    return [status, (body as { code: string }).code];
  };

  it('answers 401 to a token that the platform rejects', async () => {
    const read = await start();
    expect(await codeOf(read('workflows', 'made-up'))).to.deep.equal([401, 'credential_rejected']);
  });

  it('serves the stale list after the platform was killed, and an error without one', async () => {
    const read = await start();
    const before = await read('workflows', token());
    expect(before.status).to.equal(200);
    await kill();
    expect(await read('workflows', token())).to.deep.equal(before);
    const [name, other = token()] = others;
    expect(await codeOf(read(name, other))).to.deep.equal([502, 'upstream_failed']);
  });
}

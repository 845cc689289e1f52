import { expect } from 'chai';
import { createAdminServer } from '../../src/http/admin-server.ts';
import type { HttpServer } from '../../src/http/edge.ts';
import { captureLog } from '../observability/captured-log.ts';
import { closeAll, LIST, serve } from './served.ts';
import { ask, get } from './wire.ts';

describe('the admin listener', () => {
  let admin: HttpServer | undefined;

  afterEach(async () => {
    await admin?.drain(0);
    await closeAll();
  });

  async function serveAdmin(isDraining: () => boolean) {
    const log = captureLog();
    admin = createAdminServer({ settings: { host: '127.0.0.1', port: 0 }, logger: log.logger, isDraining });
    return { url: await admin.listen(), ...log };
  }

  it('answers the probes, whatever host they name, and nothing else', async () => {
    const { url, access } = await serveAdmin(() => false);
    for (const path of ['/livez', '/readyz']) {
      expect((await ask(url, get(path, { Host: 'portico.internal', Authorization: undefined }))).status).to.equal(200);
      expect((await ask(url, get(path, {}, 'POST'))).status).to.equal(405);
    }
    expect((await ask(url, get(LIST))).json['code']).to.equal('not_found');
    expect((await access(5)).map(({ outcome }) => outcome)).to.deep.equal([
      'ok',
      'method_not_allowed',
      'ok',
      'method_not_allowed',
      'not_found',
    ]);
  });

  it('says with the public listener that that is draining, and goes on itself', async () => {
    const { server } = await serve();
    const { url } = await serveAdmin(server.isDraining);
    expect((await ask(url, get('/readyz'))).status).to.equal(200);
    server.markDraining();
    expect((await ask(url, get('/readyz'))).json).to.include({ status: 503, code: 'draining' });
    await server.drain(0);
    expect((await ask(url, get('/readyz'))).status).to.equal(503);
    expect((await ask(url, get('/livez'))).status).to.equal(200);
  });
});

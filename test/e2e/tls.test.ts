import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ConfigError, createGateway } from '../../src/gateway.ts';
import { captureLog } from '../observability/captured-log.ts';
import { createAuthority, writePem } from '../support/certificates.ts';
import { eventually } from '../support/eventually.ts';
import { settingsFor, startGateway } from '../support/gateway.ts';
import { inFolder, runPortico, writeSettings } from '../support/process.ts';
import { exchange, get } from '../support/raw-http.ts';

const AUTHORITY = await createAuthority();
const { ca } = AUTHORITY;

const UPSTREAM = 'upstreams: { tools: { baseUrl: http://127.0.0.1:9 } }';

/** The status of a probe over TLS. */
const probe = (url: string | undefined) =>
  exchange(String(url), get('/readyz'), { tls: { ca } }).then(({ status }) => status);

describe('a process with TLS', () => {
  it('speaks it on both listeners, says so in its log, and drains', () =>
    inFolder(async (folder) => {
      const { cert, key } = writePem(folder, await AUTHORITY.issue());
      const tls = `tls: { certFile: ${cert}, keyFile: ${key} }`;
      const settings = `http: { port: 0, ${tls} }\nadmin: { port: 0, ${tls} }\n${UPSTREAM}`;
      const portico = runPortico(['serve', await writeSettings(folder, settings)]);
      const url = await portico.ready;
      expect(url).to.match(/^https:/);
      expect(await probe(url)).to.equal(200);
      const adminUrl = /"adminUrl":"([^"]+)"/.exec(portico.stdout())?.[1];
      expect(adminUrl).to.match(/^https:/);
      expect(await probe(adminUrl)).to.equal(200);
      const { code, stderr } = await portico.stop();
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    }));

  for (const command of ['check', 'serve']) {
    it(`says with ${command} of each file that cannot be used where it stands in settings, and why`, () =>
      inFolder(async (folder) => {
        const { cert } = writePem(folder, await AUTHORITY.issue());
        const { key } = writePem(folder, { key: (await AUTHORITY.issue()).key });
        const lines = [
          'allowUnverifiedCallers: true',
          'http:',
          '  port: 0',
          `  tls: { certFile: ${cert}, keyFile: ${key} }`,
          `admin: { tls: { certFile: ${cert}, keyFile: /no/key, clientCaFile: /no/ca } }`,
          'upstreams:',
          '  tools:',
          '    baseUrl: http://127.0.0.1:9',
          '    credential: { kind: service, file: /no/secret }',
        ];
        const file = await writeSettings(folder, lines.join('\n'));
        const column = (line: number, text: string) => Number(lines[line - 1]?.lastIndexOf(text)) + 1;
        const { code, stderr } = await runPortico([command, file]).ended;
        expect(code).to.equal(2);
        expect(stderr.trim().split('\n')).to.deep.equal([
          `${file}:4:${column(4, key)}: http.tls.keyFile: is not the key of certFile`,
          `${file}:5:${column(5, '/no/key')}: admin.tls.keyFile: cannot be read (ENOENT)`,
          `${file}:9:${column(9, '/no/secret')}: upstreams.tools.credential.file: cannot be read (ENOENT)`,
        ]);
      }));
  }

  it('does not listen on a Unix socket', async () => {
    const tls = { certFile: 'a', keyFile: 'b' };
    const settings = settingsFor('http://127.0.0.1:9', { http: { socketPath: '/tmp/x', tls } });
    expect(() => createGateway(settings)).to.throw(ConfigError, /^http\.tls: stands beside socketPath/);
  });
});

describe('a gateway with TLS', () => {
  it('tells once of each renewal of its certificate, and of files that it cannot use', () =>
    inFolder(async (folder) => {
      const { cert: certFile, key: keyFile } = writePem(folder, await AUTHORITY.issue());
      const clock = { now: Date.now() };
      const log = captureLog('info');
      const { url } = await startGateway(settingsFor('http://127.0.0.1:9', { http: { tls: { certFile, keyFile } } }), {
        logger: log.logger,
        now: () => clock.now,
      });
      const told = () =>
        log
          .lines()
          .flatMap(({ level, msg, block, key, issue }) =>
            String(msg).startsWith('certificate') ? [{ level, msg, block, key, issue }] : [],
          );
      const of = { block: 'http.tls', key: undefined, issue: undefined };
      writePem(folder, await AUTHORITY.issue());
      clock.now += 10_000;
      await eventually(() => told().length === 1);
      writeFileSync(join(folder, 'cert.pem'), '');
      clock.now += 10_000;
      await eventually(() => told().length === 2);
      expect(told()).to.deep.equal([
        { ...of, level: 'info', msg: 'certificates taken from their files' },
        {
          ...of,
          level: 'warn',
          msg: 'certificate files unusable',
          key: 'certFile',
          issue: 'holds no certificate in PEM',
        },
      ]);
      expect(await probe(url)).to.equal(200);
    }));
});

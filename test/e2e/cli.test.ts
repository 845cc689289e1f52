import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { inFolder, runPortico, writeSettings } from '../support/process.ts';

const UPSTREAMS = `
upstreams:
  projects: { baseUrl: http://127.0.0.1:9 }
  workflows: { baseUrl: http://127.0.0.1:9 }
  tools: { baseUrl: http://127.0.0.1:9 }
`;

describe('the command line', () => {
  it('prints its usage for --help', async () => {
    const { code, stdout } = await runPortico(['--help']).ended;
    expect(code).to.equal(0);
    expect(stdout)
      .to.match(/^Usage:/)
      .and.contain('portico [serve] --config FILE');
  });

  it('prints the version of the package for --version', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    const { code, stdout } = await runPortico(['--version']).ended;
    expect({ code, stdout }).to.deep.equal({ code: 0, stdout: `${version}\n` });
  });

  it('prints the committed JSON Schema for schema', async () => {
    const { code, stdout } = await runPortico(['schema']).ended;
    expect(code).to.equal(0);
    expect(stdout).to.equal(readFileSync('config/schema.json', 'utf8'));
  });

  it('prints the effective settings for check, secrets masked', async () => {
    await inFolder(async (folder) => {
      const file = await writeSettings(
        folder,
        `${UPSTREAMS.replace('tools: { baseUrl: http://127.0.0.1:9 }', "tools: { baseUrl: http://127.0.0.1:9, headers: { X-Api-Key: '${KEY}' } }")}`,
      );
      const { code, stdout } = await runPortico(['check', '--config', file], { KEY: 'very-secret' }).ended;
      expect(code).to.equal(0);
      expect(stdout).to.contain('timeoutMs: 10000').and.contain('X-Api-Key').and.not.contain('very-secret');
    });
  });

  for (const [args, sentence] of [
    [['serve'], 'serve needs --config FILE'],
    [['check'], 'check needs --config FILE'],
    [['stdio'], 'stdio needs --config FILE'],
    [['frobnicate'], 'there is no command frobnicate'],
    [['serve', 'twice', '--config', 'x'], 'too many arguments: twice'],
    [['--demo', '--config', 'x'], '--demo takes no other argument'],
    [['--nonsense'], '--nonsense'],
  ] as const) {
    it(`says what is wrong with: portico ${args.join(' ')}`, async () => {
      const { code, stdout, stderr } = await runPortico(args).ended;
      expect(code).to.equal(2);
      expect(stdout).to.equal('');
      expect(stderr)
        .to.match(/^portico: /)
        .and.contain(sentence)
        .and.contain('Usage:');
    });
  }

  it('ends with every mistake and its line, and no stack, when settings are wrong', async () => {
    await inFolder(async (folder) => {
      const file = await writeSettings(folder, `http:\n  prot: 80\n${UPSTREAMS}scheme: 7\n`);
      const { code, stderr } = await runPortico(['serve', '--config', file]).ended;
      expect(code).to.equal(2);
      expect(stderr).to.contain(`${file}:2:3`).and.contain('port').and.contain(`${file}:8:9`);
      expect(stderr).not.to.contain('    at ');
    });
  });

  it('ends with one line when the settings file is not there', async () => {
    const { code, stderr } = await runPortico(['serve', '--config', '/no/such/file.yaml']).ended;
    expect(code).to.equal(2);
    expect(stderr.trim().split('\n')).to.have.length(1);
    expect(stderr).to.contain('/no/such/file.yaml');
  });

  it('ends with one line when the port is taken', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    try {
      await inFolder(async (folder) => {
        const file = await writeSettings(folder, `http: { port: ${port} }\nadmin: { port: 0 }\n${UPSTREAMS}`);
        const { code, stderr } = await runPortico(['--config', file]).ended;
        expect(code).to.equal(1);
        expect(stderr).to.equal(
          `portico: cannot listen on 127.0.0.1:${port}: something else listens there (EADDRINUSE)\n`,
        );
      });
    } finally {
      other.close();
    }
  });

  it('ends with one line when the admin port is taken', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    try {
      await inFolder(async (folder) => {
        const file = await writeSettings(folder, `http: { port: 0 }\nadmin: { port: ${port} }\n${UPSTREAMS}`);
        const { code, stderr } = await runPortico(['--config', file]).ended;
        expect(code).to.equal(1);
        expect(stderr).to.contain(`127.0.0.1:${port}`).and.contain('EADDRINUSE');
      });
    } finally {
      other.close();
    }
  });

  it('ends with one line when the folder of the unix socket is missing', async () => {
    await inFolder(async (folder) => {
      const socket = join(folder, 'missing', 'portico.sock');
      const file = await writeSettings(folder, `http: { socketPath: ${socket} }\nadmin: { port: 0 }\n${UPSTREAMS}`);
      const { code, stderr } = await runPortico(['--config', file]).ended;
      expect(code).to.equal(1);
      expect(stderr.trim().split('\n')).to.have.length(1);
      expect(stderr).to.contain(socket);
    });
  });
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { loadSettings } from '../../../src/composition.ts';
import { ConfigError } from '../../../src/core/config/config-error.ts';
import { parseSettings } from '../../../src/core/config/load-config.ts';
import { anyText } from '../../support/any-text.ts';
import { atDepth } from '../../support/depth.ts';
import { newFolder } from '../../support/process/process.ts';
import { rejectionBy, thrownBy } from '../../support/thrown.ts';
import { load, UPSTREAMS } from './settings-file.ts';

const UPSTREAM = { baseUrl: 'https://api.example' };
const MINIMAL = { upstreams: { projects: UPSTREAM, workflows: UPSTREAM, tools: UPSTREAM } };

describe('settings from a file', () => {
  it('send headers and query parameters as they are written, also from the environment', async () => {
    const { settings: config } = await load(
      `upstreams:
  projects:
    baseUrl: https://a.example
    headers: { X-A: 007, X-B: 1.10, X-C: true, X-D: 0x1F, X-E: text, X-F: null, X-G: '', X-H: 12345678901234567890, X-I: "\${KEY}" }
  workflows: { baseUrl: https://a.example }
  tools: { baseUrl: https://a.example }
resources:
  projects:
    query: { page: 01, state: [007, 1.10, x] }
    path: /\${KEY}
`,
      { KEY: '0012e3' },
    );
    expect(config.upstreams['projects']?.headers).to.deep.equal({
      ...{ 'X-A': '007', 'X-B': '1.10', 'X-C': 'true', 'X-D': '0x1F', 'X-E': 'text', 'X-F': 'null', 'X-G': '' },
      ...{ 'X-H': '12345678901234567890', 'X-I': '0012e3' },
    });
    expect(config.resources.projects).to.deep.include({
      query: { page: '01', state: ['007', '1.10', 'x'] },
      path: '/0012e3',
    });
  });

  it('are YAML 1.2, also with another directive', async () => {
    const { settings: config } = await load(`%YAML 1.1\n---\nscheme: yes\nhttp: { port: 010 }\n${UPSTREAMS}`);
    expect(config.scheme).to.equal('yes');
    expect(config.http.port).to.equal(10);
  });
});

describe('a settings file that cannot be read', () => {
  const failure = async (file: string): Promise<string> =>
    (await rejectionBy(ConfigError, loadSettings(file, {})))?.message.replace(file, 'FILE') ?? '';

  it('is reported in one line', async () => {
    const folder = await newFolder();
    expect(await failure(join(folder, 'none.yaml'))).to.equal('FILE: cannot be read: no such file or directory');
    expect(await failure(folder)).to.equal('FILE: cannot be read: illegal operation on a directory');
    const file = join(folder, 'file');
    await writeFile(file, Buffer.from([0x61, 0xff]));
    expect(await failure(file)).to.equal('FILE: is not UTF-8 text');
    expect(await failure(join(file, 'below'))).to.equal('FILE: cannot be read: not a directory');
  });

  it('is refused above 256 KiB before it is parsed', async () => {
    const folder = await newFolder();
    const file = join(folder, 'large.yaml');
    await writeFile(file, `${UPSTREAMS}#`.padEnd(262_144, 'x'));
    expect(await failure(file)).to.equal('');
    await writeFile(file, `${UPSTREAMS}#`.padEnd(262_145, 'x'));
    expect(await failure(file)).to.equal('FILE: is larger than 256 KiB');
    if (process.platform === 'linux') expect(await failure('/dev/zero')).to.equal('FILE: is larger than 256 KiB');
  });

  it('is never anything but settings or a ConfigError, whatever its text', async () => {
    const snippet = fc.constantFrom(
      ...['upstreams:', 'http', ': ', '\n', '  ', '- ', '[', ']', '{', '}', ',', '&a ', '*a', '"', "'", '${', '$', '|'],
      ...['>', '!!int ', '!', '%YAML 1.1\n---\n', '---\n', '...', '#', '? ', '<<', '__proto__', 'constructor', '~'],
      ...['0x', '5', '\t', '\0', '\ufeff'],
    );
    const text = fc.oneof(
      anyText(),
      fc.array(snippet, { maxLength: 40 }).map((parts) => parts.join('')),
      fc.array(snippet, { maxLength: 12 }).map((parts) => `${UPSTREAMS}http: ${parts.join('')}`),
    );
    const folder = await newFolder();
    const file = join(folder, 'portico.yaml');
    await fc.assert(
      fc.asyncProperty(text, async (yaml) => {
        await writeFile(file, yaml);
        const error = await rejectionBy(ConfigError, loadSettings(file, { A: 'a' }));
        expect(error?.issues).not.to.deep.equal([]);
      }),
      { numRuns: atDepth(40, 400) },
    );
  }).timeout(30_000);
});

describe('settings that come as an object', () => {
  it('have their issues reported all at once, with paths and without lines', () => {
    const input = JSON.parse('{"http":{"prot":1,"port":"8"},"upstreams":{"a b":{}},"log":null}');
    const error = thrownBy(ConfigError, () => parseSettings(input));
    expect(error?.name).to.equal('ConfigError');
    expect(error?.message.split('\n')).to.deep.equal([
      'http.port: must be a number, without quotes and unit',
      'http.prot: Unrecognized key; did you mean port?',
      'log: must be a block of keys, each as "key: value"',
      'upstreams["a b"]: must begin with a letter and contain only letters, digits, _ and -',
    ]);
    expect(error?.issues[1]).to.deep.equal({
      path: ['http', 'prot'],
      message: 'Unrecognized key; did you mean port?',
    });
  });

  it('are valid or a ConfigError, for any value', () => {
    fc.assert(
      fc.property(fc.anything(), (input) => {
        for (const settings of [
          input,
          { ...MINIMAL, http: input },
          { ...MINIMAL, resources: { tools: input } },
          { upstreams: input },
          { upstreams: { a: input } },
        ]) {
          thrownBy(ConfigError, () => parseSettings(settings as typeof MINIMAL));
        }
      }),
      { numRuns: atDepth(25, 400) },
    );
  });
});

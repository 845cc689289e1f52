import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { type PorticoProcess, runPortico } from '../../support/process/process.ts';

const FIELDS: Record<string, string[]> = {
  projects: ['id', 'name', 'description', 'createTime'],
  workflows: ['id', 'name', 'description', 'triggerType', 'status'],
  tools: ['id', 'name', 'version', 'category', 'description'],
};

describe('portico --demo', () => {
  let portico: PorticoProcess;
  let url: string;

  const get = (path: string, token = 'demo-alice') =>
    fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
  const read = (name: string, token?: string) => get(`/mcp/v1/resources/read?uri=platform://${name}`, token);
  /** The lines that the demo prints, to be run in another terminal. */
  const printed = () =>
    portico
      .stdout()
      .split('\n')
      .filter((line) => /^\s*curl /.test(line));

  before(async () => {
    portico = runPortico(['--demo'], { PORT: '0', ADMIN_PORT: '0' });
    url = await portico.ready;
    await eventually(() => printed().length > 0);
  });

  after(async () => {
    expect((await portico.stop()).code).to.equal(0);
  });

  it('lists the three resources', async () => {
    const list = (await (await get('/mcp/v1/resources')).json()) as { uri: string; mimeType: string }[];
    expect(list.map(({ uri }) => uri)).to.deep.equal([
      'platform://projects',
      'platform://workflows',
      'platform://tools',
    ]);
    for (const definition of list) {
      expect(definition).to.have.all.keys('uri', 'name', 'description', 'mimeType');
      expect(definition.mimeType).to.equal('application/json');
    }
  });

  for (const [name, fields] of Object.entries(FIELDS)) {
    it(`reads ${name} over several pages, in the documented shape`, async () => {
      const response = await read(name);
      expect(response.status).to.equal(200);
      const items = (await response.json()) as Record<string, unknown>[];
      expect(items.length).to.be.greaterThan(5);
      for (const item of items) {
        expect(item).to.have.all.keys(fields);
        for (const value of Object.values(item)) expect(value).to.be.a('string');
      }
    });
  }

  it('shows other projects to demo-bob', async () => {
    const alice = await (await read('projects')).json();
    const bob = await (await read('projects', 'demo-bob')).json();
    expect(bob).not.to.deep.equal(alice);
  });

  it('rejects any other token', async () => {
    const response = await read('projects', 'demo-mallory');
    expect(response.status).to.equal(401);
    expect(await response.json()).to.include({ code: 'credential_rejected' });
  });

  it('prints curl lines with its address', () => {
    expect(printed().some((line) => line.includes(`${url}/mcp/v1/resources`))).to.equal(true);
  });
});

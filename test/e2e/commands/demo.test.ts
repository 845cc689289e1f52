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

  const read = (name: string) =>
    fetch(`${url}/mcp/v1/resources/read?uri=platform://${name}`, { headers: { authorization: 'Bearer demo-alice' } });
  /** The lines that the demo prints, to be run in another terminal. */
  const printed = () => portico.stdout().match(/^\s*curl .*/gm) ?? [];

  before(async () => {
    portico = runPortico(['--demo'], { PORT: '0', ADMIN_PORT: '0' });
    url = await portico.ready;
    await eventually(() => printed().length > 0);
  });

  after(async () => {
    expect((await portico.stop()).code).to.equal(0);
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

  it('prints curl lines with its address', () => {
    expect(printed().some((line) => line.includes(`${url}/mcp/v1/resources`))).to.equal(true);
  });
});

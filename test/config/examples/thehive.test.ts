import { expect } from 'chai';
import nock from 'nock';
import { TOKEN } from '../../support/gateway.ts';
import { serveExample } from '../../support/process/example.ts';

const SERVER = 'https://thehive.example.com';

const thehive = () => nock(SERVER, { reqheaders: { authorization: `Bearer ${TOKEN}`, 'x-organisation': 'soc' } });

/** What `list` answers to the query that asks for the items from `from` on: a list, and its total in a header. */
function serve(list: string, all: readonly object[], from = 0, total = all.length) {
  thehive()
    .post('/api/v1/query', {
      query: [
        { _name: list },
        { _name: 'sort', _fields: [{ _createdAt: 'asc' }] },
        { _name: 'page', from, to: from + 100, extraData: ['total'] },
      ],
    })
    .matchHeader('content-type', 'application/json')
    .reply(200, all.slice(from, from + 100), { 'x-total': String(total) });
}

function caseOf(number: number, fields: object = {}) {
  return {
    _id: `~${number * 4096}`,
    _type: 'Case',
    _createdBy: 'analyst@soc.example.com',
    _createdAt: 1_759_762_494_123 + number,
    number,
    title: `Case ${number}`,
    description: `About ${number}`,
    severity: 2,
    severityLabel: 'MEDIUM',
    startDate: 1_759_762_494_123,
    tags: [],
    flag: false,
    tlp: 2,
    tlpLabel: 'AMBER',
    pap: 2,
    papLabel: 'AMBER',
    status: 'New',
    stage: 'New',
    access: { _kind: 'OrganisationAccessKind' },
    customFields: [],
    extraData: {},
    newDate: 1_759_762_494_123,
    timeToDetect: 0,
    ...fields,
  };
}

describe('config/examples/thehive.yaml', () => {
  const read = serveExample('thehive', { THEHIVE_URL: SERVER, THEHIVE_ORGANISATION: 'soc' });

  it('reads cases as projects, over as many pages as X-Total makes, by a query in the body', async () => {
    const all = Array.from({ length: 230 }, (_, index) => caseOf(index + 1));
    for (const from of [0, 100, 200]) serve('listCase', all, from);

    const { status, body } = await read('projects');

    expect(body).to.deep.equal(
      all.map(({ _id, title, description, _createdAt }) => ({
        id: _id,
        name: title,
        description,
        createTime: new Date(_createdAt).toISOString(),
      })),
    );
    expect(status).to.equal(200);
  });

  it('says no where a case comes or goes while they are read', async () => {
    const all = Array.from({ length: 130 }, (_, index) => caseOf(index + 1));
    serve('listCase', all, 0);
    serve('listCase', all, 100, 131);

    const { status, body } = await read('projects');

    expect(body).to.include({ code: 'upstream_invalid', upstream: 'thehive' });
    expect(status).to.equal(502);
  });

  it('reads case templates as workflows: what an analyst does in such a case', async () => {
    const template = {
      _id: '~8192',
      _type: 'CaseTemplate',
      _createdBy: 'admin@soc.example.com',
      _createdAt: 1_759_762_494_123,
      name: 'phishing',
      displayName: 'Phishing',
      description: 'Mail that asks for a password',
      severity: 2,
      tags: ['phishing'],
      flag: false,
      tasks: [],
      extraData: {},
    };
    const { description, ...bare } = template;
    serve('listCaseTemplate', [template, { ...bare, _id: '~12288', name: 'malware', displayName: '' }]);

    const { status, body } = await read('workflows');

    expect(body).to.deep.equal([
      { id: '~8192', name: 'Phishing', description, triggerType: 'MANUAL', status: '' },
      { id: '~12288', name: 'malware', description: '', triggerType: 'MANUAL', status: '' },
    ]);
    expect(status).to.equal(200);
  });

  it('reads the analyzers of Cortex as tools, in one page', async () => {
    thehive()
      .get('/api/v1/connector/cortex/analyzer')
      .query({ range: 'all' })
      .reply(200, [
        {
          id: 'VirusTotal_GetReport_3_1',
          name: 'VirusTotal_GetReport_3_1',
          version: '3.1',
          description: 'Get the latest VirusTotal report for a file, hash, domain or an IP address.',
          dataTypeList: ['file', 'hash', 'domain', 'ip'],
          cortexIds: ['local'],
        },
        { id: 'Ours_1_0', name: 'Ours_1_0', version: '1.0.2', description: '' },
      ]);

    const { status, body } = await read('tools');

    expect(body).to.deep.equal([
      {
        id: 'VirusTotal_GetReport_3_1',
        name: 'VirusTotal_GetReport_3_1',
        version: '3.1.0',
        category: 'file, hash, domain, ip',
        description: 'Get the latest VirusTotal report for a file, hash, domain or an IP address.',
      },
      { id: 'Ours_1_0', name: 'Ours_1_0', version: '1.0.2', category: '', description: '' },
    ]);
    expect(status).to.equal(200);
  });

  it('reads an empty list as an empty one', async () => {
    serve('listCaseTemplate', []);

    const { status, body } = await read('workflows');

    expect(body).to.deep.equal([]);
    expect(status).to.equal(200);
  });

  it('refuses a key that TheHive refuses, and says that a query it does not know is wrong', async () => {
    thehive().post('/api/v1/query').reply(400, { type: 'BadRequest', message: 'Unknown query listCaseTemplate' });

    const unknown = await read('workflows');

    expect(unknown.body).to.include({ code: 'upstream_refused', upstream: 'thehive' });
    expect(unknown.status).to.equal(502);

    thehive().post('/api/v1/query').reply(401, { type: 'AuthenticationError', message: 'Authentication failure' });

    const refused = await read('projects');

    expect(refused.body).to.include({ code: 'credential_rejected', upstream: 'thehive' });
    expect(refused.status).to.equal(401);
  });
});

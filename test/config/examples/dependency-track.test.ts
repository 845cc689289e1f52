import { expect } from 'chai';
import nock from 'nock';
import { TOKEN } from '../../support/gateway.ts';
import { serveExample } from '../../support/process/example.ts';

const SERVER = 'https://dtrack-api.example.com';

const dependencyTrack = () => nock(SERVER, { reqheaders: { 'x-api-key': TOKEN }, badheaders: ['authorization'] });

/** The nth of many UUIDs. */
const uuid = (number: number) => `90ad2d33-bcf7-4d9f-9f46-${String(number).padStart(12, '0')}`;

/** A project as the list has it: what has no value is left out. */
function project(number: number, fields: object = {}) {
  return {
    name: `acme-${number}`,
    version: `1.${number}.0`,
    classifier: 'APPLICATION',
    collectionLogic: 'NONE',
    uuid: uuid(number),
    tags: [],
    lastBomImport: 1_759_762_494_000,
    lastBomImportFormat: 'CycloneDX 1.6',
    lastInheritedRiskScore: 5,
    active: true,
    isLatest: true,
    ...fields,
  };
}

/** Page `number`, from 1, of what a list answers; `total` is what its header tells. */
function serve(path: string, query: object, all: readonly object[], number: number, total = all.length) {
  dependencyTrack()
    .get(`/api/v1${path}`)
    .query({ ...query, pageSize: '100', pageNumber: String(number) })
    .reply(200, all.slice((number - 1) * 100, number * 100), { 'x-total-count': String(total) });
}

const ACTIVE = { excludeInactive: 'true' };

describe('config/examples/dependency-track.yaml', () => {
  const read = serveExample('dependency-track', { DEPENDENCY_TRACK_URL: SERVER });

  it('reads projects over as many pages as X-Total-Count makes', async () => {
    const all = Array.from({ length: 230 }, (_, number) => project(number, { description: `About ${number}` }));
    all[1] = { ...project(1), version: undefined } as unknown as (typeof all)[0];
    for (const page of [1, 2, 3]) serve('/project', ACTIVE, all, page);

    const { status, body } = await read('projects');

    const expected = all.map((_, number) => ({
      id: uuid(number),
      name: `acme-${number} 1.${number}.0`,
      description: `About ${number}`,
      createTime: '',
    }));
    expected[1] = { id: uuid(1), name: 'acme-1', description: '', createTime: '' };
    expect(body).to.deep.equal(expected);
    expect(status).to.equal(200);
  });

  it('says no where a project comes or goes while they are read', async () => {
    const all = Array.from({ length: 230 }, (_, number) => project(number));
    serve('/project', ACTIVE, all, 1);
    serve('/project', ACTIVE, all, 2, all.length - 1);
    // May have been asked for by then.
    dependencyTrack()
      .get('/api/v1/project')
      .query({ ...ACTIVE, pageSize: '100', pageNumber: '3' })
      .optionally()
      .reply(200, all.slice(200), { 'x-total-count': '230' });

    const { status, body } = await read('projects');

    expect(body).to.include({ code: 'upstream_invalid', upstream: 'dependency-track' });
    expect(status).to.equal(502);
  });

  it('reads notification rules as workflows', async () => {
    const rule = {
      name: 'Tell Slack',
      enabled: true,
      notifyChildren: true,
      logSuccessfulPublish: false,
      scope: 'PORTFOLIO',
      notificationLevel: 'INFORMATIONAL',
      projects: [],
      tags: [],
      teams: [],
      notifyOn: ['NEW_VULNERABILITY', 'BOM_PROCESSED'],
      publisher: { name: 'Slack', uuid: uuid(900) },
      publisherConfig: '{"destination":"https://slack.example.com"}',
      triggerType: 'EVENT',
      uuid: uuid(1),
    };
    const { notifyOn, ...silent } = rule;
    const weekly = {
      ...silent,
      uuid: uuid(2),
      name: 'Weekly summary',
      enabled: false,
      triggerType: 'SCHEDULE',
      scheduleCron: '0 8 * * 1',
      scheduleNextTriggerAt: 1_759_996_800_000,
      scheduleSkipUnchanged: true,
    };
    serve('/notification/rule', {}, [rule, weekly], 1);

    const { status, body } = await read('workflows');

    expect(body).to.deep.equal([
      {
        id: uuid(1),
        name: 'Tell Slack',
        description: 'BOM_PROCESSED, NEW_VULNERABILITY',
        triggerType: 'EVENT',
        status: 'ACTIVE',
      },
      { id: uuid(2), name: 'Weekly summary', description: '', triggerType: 'SCHEDULED', status: 'DISABLED' },
    ]);
    expect(status).to.equal(200);
  });

  it('reads notification publishers as tools, in one page', async () => {
    const publisher = {
      name: 'Slack',
      description: 'Publishes notifications to a Slack channel',
      publisherClass: 'org.dependencytrack.notification.publisher.SlackPublisher',
      templateMimeType: 'application/json',
      defaultPublisher: true,
      uuid: uuid(900),
    };
    const { description, ...own } = {
      ...publisher,
      name: 'Our ticket system',
      uuid: uuid(901),
      defaultPublisher: false,
    };
    dependencyTrack().get('/api/v1/notification/publisher').reply(200, [publisher, own]);

    const { status, body } = await read('tools');

    const tool = { version: '', category: 'NOTIFICATION_PUBLISHER' };
    expect(body).to.deep.equal([
      { id: uuid(900), name: 'Slack', ...tool, description },
      { id: uuid(901), name: 'Our ticket system', ...tool, description: '' },
    ]);
    expect(status).to.equal(200);
  });

  it('reads an empty list as an empty one', async () => {
    serve('/notification/rule', {}, [], 1);

    const { status, body } = await read('workflows');

    expect(body).to.deep.equal([]);
    expect(status).to.equal(200);
  });

  it('refuses a key that Dependency-Track refuses, which it does without a body', async () => {
    dependencyTrack().get('/api/v1/project').query(true).reply(401);

    const { status, body } = await read('projects');

    expect(body).to.include({ code: 'credential_rejected', upstream: 'dependency-track' });
    expect(status).to.equal(401);
  });
});

import { expect } from 'chai';
import nock from 'nock';
import { TOKEN } from '../../support/gateway.ts';
import { serveExample } from '../../support/process/example.ts';

const DOMAIN = 'adjective-noun-1234.tines.com';

const tines = () => nock(`https://${DOMAIN}`, { reqheaders: { authorization: `Bearer ${TOKEN}` } });

/** Page `number`, from 1, of the list at `path`, with the meta object that Tines puts beside each list. */
function serve(path: string, query: object, all: readonly object[], number = 1, name = path) {
  const last = Math.max(1, Math.ceil(all.length / 500));
  const link = (page: number) => `https://${DOMAIN}/api/v1/${path}?per_page=500&page=${page}`;
  tines()
    .get(`/api/v1/${path}`)
    .query({ ...query, per_page: '500', page: String(number) })
    .reply(200, {
      [name]: all.slice((number - 1) * 500, number * 500),
      meta: {
        current_page: link(number),
        previous_page: number > 1 ? link(number - 1) : null,
        next_page: number < last ? link(number + 1) : null,
        next_page_number: number < last ? number + 1 : null,
        per_page: 500,
        pages: last,
        count: all.length,
      },
    });
}

function story(id: number, fields: object = {}) {
  return {
    name: `Story ${id}`,
    user_id: 167,
    description: null,
    keep_events_for: 604800,
    disabled: false,
    priority: false,
    send_to_story_enabled: false,
    send_to_story_access_source: 'OFF',
    send_to_story_access: null,
    shared_team_slugs: [],
    entry_agent_id: null,
    exit_agents: [],
    team_id: 1,
    tags: [],
    guid: `df1e838a18d20696120b41516497b${String(id).padStart(3, '0')}`,
    slug: `story_${id}`,
    created_at: '2021-05-10T08:56:50Z',
    updated_at: '2021-05-10T08:56:50Z',
    edited_at: '2021-05-10T08:56:50Z',
    mode: 'LIVE',
    id,
    folder_id: 1,
    published: true,
    ...fields,
  };
}

describe('config/examples/tines.yaml', () => {
  const read = serveExample('tines', { TINES_DOMAIN: DOMAIN });

  it('reads teams as projects, with the names of their groups', async () => {
    serve('teams', { scope: 'all' }, [
      {
        id: 1,
        name: 'Security Team',
        groups: [
          { id: 3, name: 'Tier 1' },
          { id: 4, name: 'Tier 2' },
        ],
      },
      { id: 2, name: 'Engineering Team', groups: [] },
      { id: 3, name: 'As it was before there were groups' },
    ]);

    const { status, body } = await read('projects');

    expect(body).to.deep.equal([
      { id: '1', name: 'Security Team', description: 'Tier 1, Tier 2', createTime: '' },
      { id: '2', name: 'Engineering Team', description: '', createTime: '' },
      { id: '3', name: 'As it was before there were groups', description: '', createTime: '' },
    ]);
    expect(status).to.equal(200);
  });

  it('reads stories as workflows over as many pages as the count makes', async () => {
    const all = Array.from({ length: 1001 }, (_, id) => story(id + 1));
    all[0] = story(1, { description: 'Enriches alerts', disabled: true });
    for (const page of [1, 2, 3]) serve('stories', {}, all, page);

    const { status, body } = await read('workflows');

    const expected = all.map(({ id, name }) => ({
      id: String(id),
      name,
      description: '',
      triggerType: '',
      status: 'ACTIVE',
    }));
    expected[0] = { id: '1', name: 'Story 1', description: 'Enriches alerts', triggerType: '', status: 'DISABLED' };
    expect(body).to.deep.equal(expected);
    expect(status).to.equal(200);
  });

  it('reads credentials as tools: what the tenant is connected to', async () => {
    const credential = {
      id: 1,
      name: 'tines_github_credential',
      mode: 'TEXT',
      team_id: 2,
      folder_id: 1,
      read_access: 'TEAM',
      shared_team_slugs: [],
      slug: 'tines_github_credential',
      created_at: '2021-03-26T12:34:16.540Z',
      updated_at: '2021-03-26T12:34:16.540Z',
      description: '',
      aws_assumed_role_external_id: null,
      aws_authentication_type: null,
      allowed_hosts: [],
      metadata: {},
    };
    serve('user_credentials', {}, [
      credential,
      { ...credential, id: 2, name: 'Jira', mode: 'OAUTH', description: 'Opens tickets' },
    ]);

    const { status, body } = await read('tools');

    expect(body).to.deep.equal([
      { id: '1', name: 'tines_github_credential', version: '', category: 'TEXT', description: '' },
      { id: '2', name: 'Jira', version: '', category: 'OAUTH', description: 'Opens tickets' },
    ]);
    expect(status).to.equal(200);
  });

  it('reads an empty list as an empty one', async () => {
    serve('stories', {}, []);

    const { status, body } = await read('workflows');

    expect(body).to.deep.equal([]);
    expect(status).to.equal(200);
  });

  it('refuses a key that Tines refuses', async () => {
    tines().get('/api/v1/teams').query(true).reply(401);

    const { status, body } = await read('projects');

    expect(body).to.include({ code: 'credential_rejected', upstream: 'tines' });
    expect(status).to.equal(401);
  });
});

import { expect } from 'chai';
import nock from 'nock';
import { TOKEN } from '../../support/gateway.ts';
import { serveExample } from '../../support/process/example.ts';

const SERVER = 'https://gitlab.example.com';
const PROJECTS = {
  membership: 'true',
  archived: 'false',
  simple: 'true',
  order_by: 'id',
  sort: 'asc',
  per_page: '100',
};

const gitlab = () => nock(SERVER, { reqheaders: { 'private-token': TOKEN }, badheaders: ['authorization'] });

/** The headers that GitLab tells paging by; it leaves the totals out where `total` is above 10,000. */
function paging(page: number, total: number): Record<string, string> {
  const last = Math.ceil(total / 100);
  return {
    'x-page': String(page),
    'x-per-page': '100',
    'x-next-page': page < last ? String(page + 1) : '',
    'x-prev-page': page > 1 ? String(page - 1) : '',
    ...(total <= 10_000 && { 'x-total': String(total), 'x-total-pages': String(last) }),
  };
}

/** A project with as many fields as `simple=true` gives. */
function project(id: number) {
  return {
    id,
    description: id % 2 === 0 ? null : `About ${id}`,
    name: `Project ${id}`,
    name_with_namespace: `Security / Project ${id}`,
    path: `project-${id}`,
    path_with_namespace: `security/project-${id}`,
    created_at: '2013-09-30T13:46:02.000Z',
    default_branch: 'main',
    tag_list: [],
    topics: [],
    ssh_url_to_repo: `git@gitlab.example.com:security/project-${id}.git`,
    http_url_to_repo: `${SERVER}/security/project-${id}.git`,
    web_url: `${SERVER}/security/project-${id}`,
    readme_url: null,
    forks_count: 0,
    avatar_url: null,
    star_count: 3,
    last_activity_at: '2026-01-30T13:46:02.000Z',
    namespace: { id: 3, name: 'Security', path: 'security', kind: 'group', full_path: 'security', parent_id: null },
  };
}

function mapped({ id, description, name_with_namespace: name }: ReturnType<typeof project>) {
  return { id: String(id), name, description: description ?? '', createTime: '2013-09-30T13:46:02.000Z' };
}

const many = Array.from({ length: 235 }, (_, index) => project(10_000 + index));

function serveProjects(page: number, total: number): nock.Interceptor {
  const mock = gitlab()
    .get('/api/v4/projects')
    .query({ ...PROJECTS, page: String(page) });
  mock.reply(200, many.slice((page - 1) * 100, page * 100), paging(page, total));
  return mock;
}

describe('config/examples/gitlab.yaml', () => {
  const read = serveExample('gitlab', { GITLAB_URL: SERVER, GITLAB_PROJECT_ID: 'security/app' });

  it('reads projects with their numeric ids, over as many pages as X-Total makes', async () => {
    for (const page of [1, 2, 3]) serveProjects(page, many.length);

    const { status, body } = await read('projects');

    expect(body).to.deep.equal(many.map(mapped));
    expect(status).to.equal(200);
  });

  it('says no rather than guess where GitLab tells no total', async () => {
    serveProjects(1, 10_001);

    const { status, body } = await read('projects');

    expect(body).to.include({ code: 'upstream_invalid', upstream: 'gitlab' });
    expect(status).to.equal(502);
  });

  it('reads pipeline schedules as workflows', async () => {
    const schedule = {
      id: 13,
      description: 'Weekly dependency scan',
      ref: 'refs/heads/main',
      cron: '0 4 * * 1',
      cron_timezone: 'Asia/Tokyo',
      next_run_at: '2026-05-19T13:41:00.000Z',
      active: true,
      created_at: '2017-05-19T13:31:08.849Z',
      updated_at: '2017-05-19T13:40:17.727Z',
      owner: {
        id: 1,
        username: 'root',
        name: 'Administrator',
        state: 'active',
        avatar_url: null,
        web_url: `${SERVER}/root`,
      },
    };
    gitlab()
      .get('/api/v4/projects/security%2Fapp/pipeline_schedules')
      .query({ per_page: '100', page: '1' })
      .reply(
        200,
        [
          schedule,
          { ...schedule, id: 14, description: 'Nightly DAST', active: false, next_run_at: null, cron_timezone: null },
        ],
        paging(1, 2),
      );

    const { status, body } = await read('workflows');

    expect(body).to.deep.equal([
      {
        id: '13',
        name: 'Weekly dependency scan',
        description: '0 4 * * 1 Asia/Tokyo refs/heads/main',
        triggerType: 'SCHEDULED',
        status: 'ACTIVE',
      },
      {
        id: '14',
        name: 'Nightly DAST',
        description: '0 4 * * 1 refs/heads/main',
        triggerType: 'SCHEDULED',
        status: 'DISABLED',
      },
    ]);
    expect(status).to.equal(200);
  });

  it('reads active integrations as tools, in one page', async () => {
    const events = { push_events: true, issues_events: true, pipeline_events: true, vulnerability_events: false };
    const times = { created_at: '2019-11-20T11:20:25.297Z', updated_at: '2019-11-20T12:24:37.498Z' };
    gitlab()
      .get('/api/v4/projects/security%2Fapp/integrations')
      .reply(200, [
        { id: 75, title: 'Jenkins CI', slug: 'jenkins', ...times, active: true, commit_events: true, ...events },
        { id: 76, title: 'GitGuardian', slug: 'git-guardian', ...times, active: true, commit_events: true, ...events },
      ]);

    const { status, body } = await read('tools');

    expect(body).to.deep.equal([
      { id: 'jenkins', name: 'Jenkins CI', version: '', category: 'INTEGRATION', description: '' },
      { id: 'git-guardian', name: 'GitGuardian', version: '', category: 'INTEGRATION', description: '' },
    ]);
    expect(status).to.equal(200);
  });

  it('refuses a token that GitLab refuses', async () => {
    gitlab().get('/api/v4/projects').query(true).reply(401, { message: '401 Unauthorized' });

    const { status, body } = await read('projects');

    expect(body).to.include({ code: 'credential_rejected', upstream: 'gitlab' });
    expect(status).to.equal(401);
  });

  it('denies integrations to those whom GitLab denies them', async () => {
    gitlab().get('/api/v4/projects/security%2Fapp/integrations').reply(403, { message: '403 Forbidden' });

    const { status, body } = await read('tools');

    expect(body).to.include({ code: 'access_denied', upstream: 'gitlab' });
    expect(status).to.equal(403);
  });

  it('gives up the whole read when a later page fails', async () => {
    serveProjects(1, many.length);
    // May have been asked for by then.
    serveProjects(3, many.length).optionally();
    gitlab()
      .get('/api/v4/projects')
      .query({ ...PROJECTS, page: '2' })
      .reply(
        429,
        { message: 'This endpoint has been requested too many times. Try again later.' },
        { 'retry-after': '42' },
      );

    const { status, headers, body } = await read('projects');

    expect(body).to.include({ code: 'upstream_rate_limited', upstream: 'gitlab' });
    expect(headers.get('retry-after')).to.equal('42');
    expect(status).to.equal(429);
  });
});

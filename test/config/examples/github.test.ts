import { expect } from 'chai';
import nock from 'nock';
import { TOKEN } from '../../support/gateway.ts';
import { serveExample } from '../../support/process/example.ts';

const API = 'https://api.github.com';

const github = () =>
  nock(API, {
    reqheaders: {
      authorization: `Bearer ${TOKEN}`,
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
      'user-agent': 'portico (octo-org)',
    },
  });

/** The `Link` header of page `page` out of `last`, as GitHub writes it. */
function link(url: string, page: number, last: number): Record<string, string> {
  const to = (number: number, rel: string) => `<${url}&page=${number}>; rel="${rel}"`;
  const links = [
    ...(page > 1 ? [to(page - 1, 'prev')] : []),
    ...(page < last ? [to(page + 1, 'next'), to(last, 'last')] : []),
    ...(page > 1 ? [to(1, 'first')] : []),
  ];
  return { link: links.join(', ') };
}

const OWNER = {
  login: 'octo-org',
  id: 6811672,
  node_id: 'MDEyOk9yZ2FuaXphdGlvbjY4MTE2NzI=',
  avatar_url: 'https://avatars.githubusercontent.com/u/6811672?v=4',
  url: `${API}/users/octo-org`,
  type: 'Organization',
  site_admin: false,
};

function repository(id: number, name: string, description: string | null, createdAt: string) {
  return {
    id,
    node_id: 'MDEwOlJlcG9zaXRvcnkxMjk2MjY5',
    name,
    full_name: `octo-org/${name}`,
    private: true,
    owner: OWNER,
    html_url: `https://github.com/octo-org/${name}`,
    description,
    fork: false,
    url: `${API}/repos/octo-org/${name}`,
    created_at: createdAt,
    updated_at: '2026-02-01T08:00:00Z',
    pushed_at: '2026-02-01T07:59:00Z',
    homepage: null,
    size: 108,
    stargazers_count: 80,
    language: null,
    has_issues: true,
    archived: false,
    disabled: false,
    license: null,
    topics: ['security'],
    visibility: 'private',
    default_branch: 'main',
    permissions: { admin: false, maintain: false, push: true, triage: true, pull: true },
  };
}

function workflow(id: number, name: string, path: string, state: string) {
  return {
    id,
    node_id: 'MDg6V29ya2Zsb3cxNjEzMzU=',
    name,
    path,
    state,
    created_at: '2020-01-08T23:48:37.000-08:00',
    updated_at: '2020-01-08T23:50:21.000-08:00',
    url: `${API}/repos/octo-org/scanner/actions/workflows/${id}`,
    html_url: `https://github.com/octo-org/scanner/blob/main/${path}`,
    badge_url: `https://github.com/octo-org/scanner/workflows/${encodeURIComponent(name)}/badge.svg`,
  };
}

function installation(id: number, slug: string, permissions: Record<string, string>, suspendedAt: string | null) {
  return {
    id,
    account: OWNER,
    repository_selection: 'selected',
    access_tokens_url: `${API}/app/installations/${id}/access_tokens`,
    repositories_url: `${API}/installation/repositories`,
    html_url: `https://github.com/organizations/octo-org/settings/installations/${id}`,
    app_id: 2218,
    app_slug: slug,
    target_id: OWNER.id,
    target_type: 'Organization',
    permissions,
    events: ['check_suite', 'push'],
    created_at: '2017-05-16T08:47:09.000-07:00',
    updated_at: '2017-06-06T11:23:23.000-07:00',
    single_file_name: null,
    suspended_at: suspendedAt,
    suspended_by: suspendedAt === null ? null : OWNER,
  };
}

describe('config/examples/github.yaml', () => {
  const read = serveExample('github', { GITHUB_OWNER: 'octo-org', GITHUB_REPO: 'scanner', GITHUB_API_URL: '' });

  it('reads repositories as projects, over all linked pages', async () => {
    const query = { sort: 'created', direction: 'asc', per_page: '100' };
    const url = `${API}/user/repos?sort=created&direction=asc&per_page=100`;
    github()
      .get('/user/repos')
      .query(query)
      .reply(
        200,
        [
          repository(1296269, 'hello-world', 'This your first repo!', '2011-01-26T19:01:12Z'),
          repository(1300192, 'spoon-knife', null, '2011-01-27T19:30:43Z'),
        ],
        link(url, 1, 3),
      )
      .get('/user/repos')
      .query({ ...query, page: '2' })
      .reply(200, [repository(41881900, 'scanner', 'Scans', '2015-09-03T20:23:38Z')], link(url, 2, 3))
      .get('/user/repos')
      .query({ ...query, page: '3' })
      .reply(200, [repository(984734521, 'runbooks', '', '2025-05-16T11:02:00Z')], link(url, 3, 3));

    const { status, body } = await read('projects');

    expect(body).to.deep.equal([
      {
        id: '1296269',
        name: 'octo-org/hello-world',
        description: 'This your first repo!',
        createTime: '2011-01-26T19:01:12Z',
      },
      { id: '1300192', name: 'octo-org/spoon-knife', description: '', createTime: '2011-01-27T19:30:43Z' },
      { id: '41881900', name: 'octo-org/scanner', description: 'Scans', createTime: '2015-09-03T20:23:38Z' },
      { id: '984734521', name: 'octo-org/runbooks', description: '', createTime: '2025-05-16T11:02:00Z' },
    ]);
    expect(status).to.equal(200);
  });

  it('reads Actions workflows out of their envelope, without deleted ones', async () => {
    // GitHub links to the repository by its number, not by the path that was asked for.
    const url = `${API}/repositories/41881900/actions/workflows?per_page=100`;
    github()
      .get('/repos/octo-org/scanner/actions/workflows')
      .query({ per_page: '100' })
      .reply(
        200,
        {
          total_count: 5,
          workflows: [
            workflow(161335, 'CI', '.github/workflows/ci.yaml', 'active'),
            workflow(161336, 'Old', '.github/workflows/old.yaml', 'deleted'),
            workflow(161337, 'Nightly', '.github/workflows/nightly.yaml', 'disabled_inactivity'),
          ],
        },
        link(url, 1, 2),
      )
      .get('/repositories/41881900/actions/workflows')
      .query({ per_page: '100', page: '2' })
      .reply(
        200,
        {
          total_count: 5,
          workflows: [
            workflow(269289, 'Linter', '.github/workflows/linter.yaml', 'disabled_manually'),
            workflow(269290, 'CodeQL', 'dynamic/github-code-scanning/codeql', 'active'),
          ],
        },
        link(url, 2, 2),
      );

    const { status, body } = await read('workflows');

    expect(body).to.deep.equal([
      { id: '161335', name: 'CI', description: '.github/workflows/ci.yaml', triggerType: '', status: 'ACTIVE' },
      {
        id: '161337',
        name: 'Nightly',
        description: '.github/workflows/nightly.yaml',
        triggerType: '',
        status: 'DISABLED',
      },
      {
        id: '269289',
        name: 'Linter',
        description: '.github/workflows/linter.yaml',
        triggerType: '',
        status: 'DISABLED',
      },
      {
        id: '269290',
        name: 'CodeQL',
        description: 'dynamic/github-code-scanning/codeql',
        triggerType: '',
        status: 'ACTIVE',
      },
    ]);
    expect(status).to.equal(200);
  });

  it('reads installed Apps as tools, without suspended ones', async () => {
    github()
      .get('/orgs/octo-org/installations')
      .query({ per_page: '100' })
      .reply(200, {
        total_count: 3,
        installations: [
          installation(25381, 'dependabot', { metadata: 'read', contents: 'write', checks: 'write' }, null),
          installation(25382, 'left-behind', { metadata: 'read' }, '2023-11-02T10:00:00Z'),
          installation(25383, 'snyk-io', {}, null),
        ],
      });

    const { status, body } = await read('tools');

    expect(body).to.deep.equal([
      {
        id: 'dependabot',
        name: 'dependabot',
        version: '',
        category: 'GITHUB_APP',
        description: 'checks, contents, metadata',
      },
      { id: 'snyk-io', name: 'snyk-io', version: '', category: 'GITHUB_APP', description: '' },
    ]);
    expect(status).to.equal(200);
  });

  it('passes on how long a secondary rate limit lasts', async () => {
    github().get('/user/repos').query(true).reply(
      429,
      {
        message: 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
        documentation_url: 'https://docs.github.com/rest/overview/rate-limits-for-the-rest-api',
      },
      { 'retry-after': '60', 'x-ratelimit-remaining': '4211' },
    );

    const { status, headers, body } = await read('projects');

    expect(body).to.include({ code: 'upstream_rate_limited', upstream: 'github', retryAfterSeconds: 60 });
    expect(headers.get('retry-after')).to.equal('60');
    expect(status).to.equal(429);
  });

  it('says that installed Apps are not for every caller', async () => {
    github().get('/orgs/octo-org/installations').query(true).reply(403, {
      message: 'You must be an organization owner or fine-grained permission holder to view app installations.',
      documentation_url: 'https://docs.github.com/rest/orgs/orgs#list-app-installations-for-an-organization',
      status: '403',
    });

    const { status, body } = await read('tools');

    expect(body).to.include({ code: 'access_denied', upstream: 'github' });
    expect(status).to.equal(403);
  });

  it('refuses a token that GitHub refuses', async () => {
    github()
      .get('/repos/octo-org/scanner/actions/workflows')
      .query(true)
      .reply(401, { message: 'Bad credentials', documentation_url: 'https://docs.github.com/rest', status: '401' });

    const { status, headers, body } = await read('workflows');

    expect(body).to.include({ code: 'credential_rejected', upstream: 'github' });
    expect(headers.get('www-authenticate')).to.match(/^Bearer .*error="invalid_token"/);
    expect(status).to.equal(401);
  });
});

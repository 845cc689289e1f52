/** Settings of one resource as a person with experience of the platform writes them; null if the platform has no such list. */
export type RightAnswer = {
  readonly path: string;
  readonly pathParams?: Readonly<Record<string, string>>;
  readonly items: string;
  /** All that must stand under `pagination`, size aside. */
  readonly pagination: Readonly<Record<string, string | number>>;
  /** The expressions; a field that is not here must be left out. */
  readonly fields: Readonly<Record<string, string | readonly string[]>>;
} | null;

export interface RightAnswers {
  readonly credential: Readonly<Record<string, string>>;
  readonly projects: RightAnswer;
  readonly workflows: RightAnswer;
  readonly tools: RightAnswer;
}

const authentikPages = { kind: 'page', pageParam: 'page', firstPage: 1, total: 'pagination.count' };

/** Written down by hand from the documents, ahead of the guessing. */
export const RIGHT_ANSWERS: Readonly<Record<string, RightAnswers>> = {
  github: {
    credential: { kind: 'passthrough' },
    projects: {
      path: '/user/repos',
      items: '@',
      pagination: { kind: 'link' },
      fields: { id: 'id', name: ['full_name', 'name'], description: 'description', createTime: 'created_at' },
    },
    workflows: {
      path: '/repos/{owner}/{repo}/actions/workflows',
      pathParams: { owner: '${PLATFORM_OWNER}', repo: '${PLATFORM_REPO}' },
      items: 'workflows',
      pagination: { kind: 'page', pageParam: 'page', firstPage: 1, total: 'total_count' },
      fields: { id: 'id', name: 'name', status: 'state' },
    },
    // Those of the organisation. /user/installations has those of one App alone, whose token asks for them.
    tools: {
      path: '/orgs/{org}/installations',
      pathParams: { org: '${PLATFORM_ORG}' },
      items: 'installations',
      pagination: { kind: 'page', pageParam: 'page', firstPage: 1, total: 'total_count' },
      fields: { id: ['id', 'app_slug'], name: 'app_slug' },
    },
  },
  authentik: {
    credential: { kind: 'passthrough' },
    projects: {
      path: '/core/applications/',
      items: 'results',
      pagination: authentikPages,
      fields: { id: ['pk', 'slug'], name: 'name', description: 'meta_description' },
    },
    workflows: {
      path: '/flows/instances/',
      items: 'results',
      pagination: authentikPages,
      fields: { id: ['pk', 'slug'], name: 'name' },
    },
    tools: {
      path: '/endpoints/connectors/',
      items: 'results',
      pagination: authentikPages,
      fields: { id: 'connector_uuid', name: 'name' },
    },
  },
  okta: {
    credential: { kind: 'header', name: 'Authorization', format: 'SSWS {token}' },
    projects: null,
    workflows: null,
    tools: {
      path: '/api/v1/apps',
      items: '@',
      pagination: { kind: 'link' },
      fields: { id: 'id', name: ['label', 'name'] },
    },
  },
  netlify: {
    credential: { kind: 'passthrough' },
    projects: {
      path: '/sites',
      items: '@',
      pagination: { kind: 'page', pageParam: 'page', firstPage: 1 },
      fields: { id: 'id', name: 'name', createTime: 'created_at' },
    },
    workflows: null,
    tools: {
      path: '/services/',
      items: '@',
      pagination: { kind: 'none' },
      fields: { id: 'id', name: 'name', description: 'description' },
    },
  },
  figma: {
    credential: { kind: 'header', name: 'X-Figma-Token' },
    projects: {
      path: '/v1/teams/{team_id}/projects',
      pathParams: { team_id: '${PLATFORM_TEAM_ID}' },
      items: 'projects',
      pagination: { kind: 'none' },
      fields: { id: 'id', name: 'name' },
    },
    workflows: null,
    tools: null,
  },
};

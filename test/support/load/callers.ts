/** Beginning and end of every token of a load: neither may appear anywhere but in a request. */
export const TOKEN_BEGINS = 'QqSecret';
export const TOKEN_ENDS = 'TerceSqQ';

export const LOADED = ['projects', 'workflows', 'tools'] as const;
export type Loaded = (typeof LOADED)[number];

/** A token of the caller with this name; names may appear in output, tokens may not. */
export const tokenFor = (name: string): string => `${TOKEN_BEGINS}-${name}-${TOKEN_ENDS}`;

export const nameIn = (token: string): string => token.slice(TOKEN_BEGINS.length + 1, -TOKEN_ENDS.length - 1);

/** Projects and workflows take two pages of ten, tools one. */
const LENGTHS: Readonly<Record<Loaded, number>> = { projects: 13, workflows: 12, tools: 6 };

const DESCRIPTION = 'What this is for, in so many words that it takes up some room.';

/** The list that the caller with a name has, as the platform sends it and Portico has to. */
export function listFor(name: string, resource: Loaded): readonly object[] {
  return Array.from({ length: LENGTHS[resource] }, (_, index) => {
    const item = { id: `${name}-${resource}-${index}`, name: `Item ${index}` };
    if (resource === 'tools') return { ...item, version: '1.2.3', category: 'scanner', description: DESCRIPTION };
    const rest =
      resource === 'projects' ? { createTime: '2026-01-02T03:04:05Z' } : { triggerType: 'MANUAL', status: 'ACTIVE' };
    return { ...item, description: DESCRIPTION, ...rest };
  });
}

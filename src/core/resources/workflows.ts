import { z } from 'zod';
import type { Resource } from './resource.ts';

export const workflows = {
  name: 'workflows',
  title: 'Workflows',
  description: 'All installed workflows.',
  tool: 'list_installed_workflows',
  keywords: ['workflow', 'playbook', 'playbooks', 'automation', 'automations', 'runbook', 'runbooks'],
  stored: true,
  shape: z.strictObject({
    id: z.string().min(1).describe('Identifier of the workflow, like a slug.'),
    name: z.string().min(1).describe('Display name.'),
    description: z.string().describe('Free text.'),
    triggerType: z.string().describe('How it is started, such as MANUAL.'),
    status: z.string().describe('Its state, such as ACTIVE.'),
  }),
  query: { installed: 'true' },
  formats: {},
  filters: ['triggerType', 'status'],
} as const satisfies Resource;

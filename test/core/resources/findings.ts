import { z } from 'zod';
import { RESOURCES } from '../../../src/core/resources/index.ts';
import type { Resource } from '../../../src/core/resources/resource.ts';

/** A fourth resource, as a file in `src/core/resources/` would have it. */
export const findings = {
  name: 'findings',
  title: 'Findings',
  description: 'All open findings.',
  tool: 'list_findings',
  keywords: ['finding'],
  stored: true,
  shape: z.strictObject({
    id: z.string().min(1),
    name: z.string().min(1),
    severity: z.string(),
    foundAt: z.string(),
  }),
  query: { state: 'open' },
  formats: { foundAt: 'timestamp' },
  filters: ['severity'],
} as const satisfies Resource;

/** The registry, with one line more. */
export const FOUR: readonly Resource[] = [...RESOURCES, findings];

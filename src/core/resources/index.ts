import { projects } from './projects.ts';
import type { Resource } from './resource.ts';
import { tools } from './tools.ts';
import { workflows } from './workflows.ts';

/** The registry: every resource, in the order of the list. A fourth one is one file beside these and one line here. */
export const RESOURCES = [projects, workflows, tools] as const satisfies readonly Resource[];

/** The key of a resource in settings, and the last part of its URI. */
export type ResourceName = (typeof RESOURCES)[number]['name'];

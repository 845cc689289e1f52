import { projects } from './projects.ts';
import type { Resource } from './resource.ts';
import { tools } from './tools.ts';
import { workflows } from './workflows.ts';

/** Resources in the order of the list. A new one is a file and a line here. */
export const RESOURCES = [projects, workflows, tools] as const satisfies readonly Resource[];

/** Key of a resource in settings, and the last part of its URI. */
export type ResourceName = (typeof RESOURCES)[number]['name'];

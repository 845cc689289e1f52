/** Items of a list that fits one page: about 16 kB of tools. */
const COUNT = 100;

/** One tool as the default upstream contract has it, and as Portico shows it. */
const tool = (index: number) => ({
  id: `tool-${index}`,
  name: `Tool number ${index}`,
  version: `1.${index}.0`,
  category: 'scanner',
  description: `Finds what it is made to find, the ${index}th of its kind, in hosts and code.`,
});

const workflow = (index: number) => ({
  id: `workflow-${index}`,
  name: `Workflow number ${index}`,
  description: `Does what it is made to do, the ${index}th of its kind, whenever somebody starts it.`,
  triggerType: 'MANUAL',
  status: 'ACTIVE',
});

const project = (index: number) => ({
  id: `project-${index}`,
  name: `Project number ${index}`,
  description: `Holds what belongs together, the ${index}th of its kind, for those who may see it.`,
  createTime: '2026-01-02T03:04:05Z',
});

/** All tools, and all workflows: one page of the upstream each. */
export const TOOLS = tools(COUNT);
export const WORKFLOWS = list(0, COUNT, workflow);

/** So many tools. */
export function tools(count: number): object[] {
  return list(0, count, tool);
}

/** Projects from `start` up to `end`. */
export function projects(start: number, end: number): object[] {
  return list(start, end, project);
}

function list(start: number, end: number, make: (index: number) => object): object[] {
  return Array.from({ length: Math.max(0, end - start) }, (_, offset) => make(start + offset));
}

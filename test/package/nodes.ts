import { dirname, join } from 'node:path';
import { type Ended, startProcess } from '../support/process/process.ts';
import { newFolder } from '../support/process/serving.ts';
import { runTool, toolEnvironment } from '../support/tools.ts';
import { installIn } from './packed.ts';

export interface NodeOnHand {
  readonly path: string;
  /** Variables that put it first: what npm starts then runs on it. */
  readonly env: Record<string, string>;
}

/** Those that the package is tried on, by what to call them: the newest that it promises to run on, and the oldest line. */
export const NODES: Readonly<Record<string, () => Promise<NodeOnHand>>> = {
  'this Node': async () => onHand(process.execPath),
  'Node 22': () => nodeFromNpm('22'),
};

const fromNpm = new Map<string, Promise<NodeOnHand>>();

/** Another Node, from npm, once for all files of a run. To be called in a `before` hook. */
export function nodeFromNpm(version: string): Promise<NodeOnHand> {
  const node = fromNpm.get(version) ?? installNode(version);
  fromNpm.set(version, node);
  return node;
}

async function installNode(version: string): Promise<NodeOnHand> {
  const folder = await newFolder();
  // What the package `node` gets in its install script, without that script.
  const name = `node-${process.platform}-${process.arch}`;
  await installIn(folder, [`${name}@${version}`]);
  return onHand(join(folder, 'node_modules', name, 'bin/node'));
}

function onHand(path: string): NodeOnHand {
  return { path, env: { PATH: `${dirname(path)}:${process.env['PATH']}`, NODE_OPTIONS: '' } };
}

/** Runs a tool to its end on a Node, and gives its standard output; rejects where it fails. */
export function runToolOn(node: NodeOnHand, command: string, args: readonly string[], cwd: string): Promise<string> {
  return runTool(command, args, cwd, node.env);
}

/** Runs a script to its end, however that is. */
export function runOn(node: NodeOnHand, args: readonly string[], cwd: string): Promise<Ended> {
  return startProcess(node.path, args, { cwd, env: toolEnvironment(node.env) }).ended;
}

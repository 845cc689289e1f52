import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MAIN, type PorticoProcess, startPortico, startProcess } from '../../support/process/process.ts';
import { toolEnvironment } from '../../support/tools.ts';

/** A block of a page: a terminal, in which typed lines begin with `$ `, or the settings file at that time. */
const BLOCK = /^```(console|yaml)\n(.*?)^```$/gms;
const TYPED = /^\$ (.*)\n/gm;

/** What differs from run to run, and its replacement. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/"time":"[^"]+"/g, '"time":"2026-11-22T09:30:00.000Z"'],
  [/(?<=x-request-id: )\S+/g, '5a3f0c1e-7f4b-4d39-9d3c-2f1f6a0f9b77'],
  [/\b\d+(?:\.\d+)? ms\b/g, '12 ms'],
];

const LISTENERS = ['http://127.0.0.1:8080', 'http://127.0.0.1:9090'];

/** Where the commands of a page run. What they write stays in `folder`. */
export interface Place {
  readonly folder: string;
  /** From a text of the page to its replacement in this run. */
  readonly instead: ReadonlyMap<string, string>;
  /** Variables that are set before the first command. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** The same page, with what its commands say today. They run one after the other, as in one terminal. */
export async function recordAgain(page: string, { folder, instead, environment = {} }: Place): Promise<string> {
  const standIns = new Map(instead);
  const { PATH, ...rest } = toolEnvironment({ HOME: folder });
  const commands = join(folder, '.bin');
  const env: Record<string, string> = {
    ...(rest as Record<string, string>),
    PATH: `${commands}:${PATH}`,
    ...environment,
  };
  await mkdir(commands);
  await writeFile(join(commands, 'portico'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  await chmod(join(commands, 'portico'), 0o755);
  let served: PorticoProcess | undefined;

  const typed = (text: string) => replace(text, standIns);
  const shown = (text: string) => {
    const named = replace(text, new Map([...standIns].map(([onPage, here]) => [here, onPage])));
    return VARYING.reduce((steady, [varies, replacement]) => steady.replace(varies, replacement), named);
  };

  async function serve(): Promise<string> {
    const settings = join(folder, '.served.yaml');
    const written = await readFile(join(folder, 'portico.yaml'), 'utf8');
    await writeFile(settings, `${written}\nhttp: { port: 0 }\nadmin: { port: 0 }\n`);
    served = startPortico(join(commands, 'portico'), ['serve', settings], env);
    await served.ready;
    const log = served.stdout();
    const urls = [...log.matchAll(/"(?:url|adminUrl)":"([^"]+)"/g)].map(([, url = '']) => url);
    for (const [index, onPage] of LISTENERS.entries()) standIns.set(onPage, urls[index] ?? onPage);
    return log;
  }

  async function run(line: string): Promise<string> {
    if (line.startsWith('portico serve')) return serve();
    for (const [, name = '', value = ''] of line.startsWith('export ') ? line.matchAll(/(\w+)=(\S+)/g) : []) {
      env[name] = typed(value);
    }
    // What goes wrong is part of what a terminal shows.
    const { stdout } = await startProcess('sh', ['-c', `${typed(line)} 2>&1`], { cwd: folder, env, timeout: 50_000 })
      .ended;
    return stdout === '' || stdout.endsWith('\n') ? stdout : `${stdout}\n`;
  }

  const recorded = new Map<string, string>();
  try {
    for (const [block, language, text = ''] of page.matchAll(BLOCK)) {
      if (language === 'yaml') {
        await writeFile(join(folder, 'portico.yaml'), typed(text));
        continue;
      }
      let again = '';
      for (const [, line = ''] of text.matchAll(TYPED)) again += `$ ${line}\n${shown(await run(line))}`;
      recorded.set(block, `\`\`\`console\n${again}\`\`\``);
    }
  } finally {
    await served?.stop();
  }
  return page.replace(BLOCK, (block) => recorded.get(block) ?? block);
}

function replace(text: string, instead: ReadonlyMap<string, string>): string {
  return [...instead].reduce((replaced, [before, after]) => replaced.replaceAll(before, after), text);
}

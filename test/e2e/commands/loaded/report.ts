import { registerHooks } from 'node:module';

/** Preloaded by a process whose test wants to know what it has loaded: SIGUSR2 writes that to standard error. */
const loaded = new Set<string>();

registerHooks({
  load(url, context, next) {
    const [, file, name] = /\/node_modules\/(((?:@[^/]+\/)?[^/]+).*)/.exec(url) ?? [];
    if (file !== undefined && name !== undefined) loaded.add(file).add(name);
    return next(url, context);
  },
});

process.on('SIGUSR2', () => {
  // `NativeModule http`, say: what of Node itself is loaded, but for what it is made of.
  const { moduleLoadList } = process as unknown as { readonly moduleLoadList: readonly string[] };
  const parts = moduleLoadList.flatMap((entry) => /^NativeModule (.*)$/.exec(entry)?.[1] ?? []);
  process.stderr.write(`loaded: ${JSON.stringify([...loaded, ...parts])}\n`);
});

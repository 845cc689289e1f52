import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** Copies what pages are filled from: their modules read them from their own folder. */
const pages = {
  name: 'pages',
  generateBundle() {
    for (const file of globSync('src/**/*.{html,css}')) {
      this.emitFile({ type: 'asset', fileName: basename(file), source: readFileSync(file) });
    }
  },
};

/**
 * What `npm run build` makes of our own modules, beside their types: a few files in place of hundreds, since a start mostly finds
 * and compiles files (docs/decisions/0041). Packages stay where npm has put them. What is loaded late stays in files of its own.
 */
export default {
  input: {
    main: 'src/main.ts',
    portico: 'src/portico.ts',
    gateway: 'src/gateway.ts',
    'portico-testing': 'src/portico-testing.ts',
    testing: 'src/testing/testing.ts',
  },
  platform: 'node',
  external: /^[^./]/,
  plugins: [pages],
  output: {
    dir: 'dist',
    format: 'esm',
    // All in one folder: what a module finds beside itself is there, whichever file it stands in.
    chunkFileNames: 'part-[name].js',
    sourcemap: true,
    sourcemapExcludeSources: true,
  },
};

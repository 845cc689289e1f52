import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { skipAloud } from './tools.ts';

/** Chromium as Debian has it, and as others do. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** It is no test of Chromium's sandbox, and what runs it may be root. Chromium calls nobody by itself. */
const ARGUMENTS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

/** A real browser; skips the tests of a suite aloud where there is none. Whoever starts it closes it. */
export async function startBrowser(context: Mocha.Context): Promise<Browser> {
  const executablePath = PLACES.find((place) => existsSync(place));
  if (executablePath === undefined) skipAloud(context, 'Chromium is not here');
  return chromium.launch({ executablePath, args: ARGUMENTS });
}

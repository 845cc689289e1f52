/**
 * Returns `usual`, or `full` where `TEST_DEPTH=full`: numbers of random runs and seconds of load. Each commit runs the usual
 * depth, a scheduled workflow the full one (`npm run test:full`).
 */
export function atDepth(usual: number, full: number): number {
  return process.env['TEST_DEPTH'] === 'full' ? full : usual;
}

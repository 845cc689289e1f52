import { newFolder } from '../../../support/process/process.ts';
import { aiSdk } from './ai-sdk.ts';
import { sdkV1 } from './sdk-v1.ts';
import { sdkV2 } from './sdk-v2.ts';
import { type Served, serve } from './served.ts';
import { worksWith } from './works-with.ts';

describe('a published MCP client', () => {
  let served: Served;

  before(async () => {
    served = await serve(await newFolder());
  });

  after(() => served.close());

  for (const client of [
    sdkV2('auto', 'auto'),
    sdkV2('modern', { pin: '2026-07-28' }),
    sdkV2('legacy', 'legacy'),
    sdkV1,
    aiSdk('2026-07-28'),
    aiSdk('2025-11-25'),
  ]) {
    worksWith(client, () => served);
  }
});

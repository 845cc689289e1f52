import { REDIS } from './recorded/redis.ts';
import { testAlerts } from './recorded/scene.ts';

testAlerts('redis', REDIS);

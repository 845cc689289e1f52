import { PLATFORMS } from './recorded/platforms.ts';
import { testAlerts } from './recorded/scene.ts';

testAlerts('platforms', PLATFORMS);

import { FILES } from './recorded/files.ts';
import { testAlerts } from './recorded/scene.ts';

testAlerts('files', FILES);

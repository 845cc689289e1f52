import { PROCESSES } from './recorded/processes.ts';
import { testAlerts } from './recorded/scene.ts';

testAlerts('processes', PROCESSES);

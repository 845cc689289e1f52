import { CLIENTS } from './recorded/clients.ts';
import { testAlerts } from './recorded/scene.ts';

testAlerts('clients', CLIENTS);
